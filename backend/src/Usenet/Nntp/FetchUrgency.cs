namespace Sluice.Usenet.Nntp;

/// <summary>
/// How urgently one article is wanted: shared by the reader, who may begin to wait for it at any time, and the fetch that is
/// under way by then.
/// </summary>
/// <remarks>Thread-safe. Urgency only rises.</remarks>
public sealed class FetchUrgency
{
    private int _isHeadOfLine;

    // The fetch of a pool of providers, of which there is one at a time: a handler of an event would be an object per article.
    private IUrgentFetch? _fetch;

    /// <summary>Creates the urgency of one fetch.</summary>
    /// <param name="reader">On whose behalf; compared by reference, so that connections are shared fairly among readers.</param>
    /// <param name="isHeadOfLine">Whether the reader waits for it from the start.</param>
    public FetchUrgency(object reader, bool isHeadOfLine)
    {
        Reader = reader;
        _isHeadOfLine = isHeadOfLine ? 1 : 0;
    }

    /// <summary>Raised once, on the thread that calls <see cref="Raise"/>; handlers must not block or throw. Look at <see cref="IsHeadOfLine"/> after subscribing.</summary>
    public event Action? Raised;

    /// <summary>On whose behalf the article is fetched.</summary>
    public object Reader { get; }

    /// <summary>
    /// Articles that the reader will ask for next if it reads on, where that is likely: connections for them are opened meanwhile,
    /// because a handshake takes as long as the article. 0 where it wants no more than this.
    /// </summary>
    public int Following { get; init; }

    /// <summary>Whether a reader waits for it right now: it overtakes what is fetched ahead.</summary>
    public bool IsHeadOfLine => Volatile.Read(ref _isHeadOfLine) != 0;

    /// <summary>Whether the article was so late that it was asked for a second time: how long it took says nothing about the line.</summary>
    public bool WasLate { get; internal set; }

    /// <summary>The reader has come to it and waits.</summary>
    public void Raise()
    {
        if (Interlocked.Exchange(ref _isHeadOfLine, 1) != 0)
            return;
        Volatile.Read(ref _fetch)?.Raise();
        Raised?.Invoke();
    }

    /// <summary>By a fetch that begins: it is told when the urgency is raised. <see cref="IsHeadOfLine"/> is looked at after this.</summary>
    internal void Follow(IUrgentFetch fetch) => Interlocked.Exchange(ref _fetch, fetch);

    /// <summary>By a fetch that ends. Nothing happens when another one follows by now.</summary>
    internal void Unfollow(IUrgentFetch fetch) => Interlocked.CompareExchange(ref _fetch, null, fetch);
}

/// <summary>A fetch that is told when a reader comes to wait for its article.</summary>
internal interface IUrgentFetch
{
    /// <summary>By the reader, once; must not block or throw.</summary>
    void Raise();
}
