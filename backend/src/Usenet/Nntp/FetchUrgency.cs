namespace Sluice.Usenet.Nntp;

/// <summary>
/// How urgently one article is wanted: shared by the reader, who may begin to wait for it at any time, and the fetch that is
/// under way by then.
/// </summary>
/// <remarks>Thread-safe. Urgency only rises.</remarks>
public sealed class FetchUrgency : IUrgent
{
    private bool _isHeadOfLine;

    // The fetch of a pool of providers, or the urgency of a load that was begun for another reader; never two at a time. A handler of an
    // event would be an object per article.
    private IUrgent? _follower;

    /// <summary>Creates the urgency of one fetch.</summary>
    /// <param name="reader">On whose behalf; compared by reference, so that connections are shared fairly among readers.</param>
    /// <param name="isHeadOfLine">Whether the reader waits for it from the start.</param>
    public FetchUrgency(object reader, bool isHeadOfLine)
    {
        Reader = reader;
        _isHeadOfLine = isHeadOfLine;
    }

    /// <summary>On whose behalf the article is fetched.</summary>
    public object Reader { get; }

    /// <summary>
    /// Articles that the reader will ask for next if it reads on, where that is likely: connections for them are opened meanwhile,
    /// because a handshake takes as long as the article. 0 where it wants no more than this.
    /// </summary>
    public int Following { get; init; }

    /// <summary>Whether a reader waits for it right now: it overtakes what is fetched ahead.</summary>
    public bool IsHeadOfLine => Volatile.Read(ref _isHeadOfLine);

    /// <summary>Whether the article was so late that it was asked for a second time: how long it took says nothing about the line.</summary>
    public bool WasLate { get; internal set; }

    /// <summary>Whether the article was asked for more than once: it was late, damaged or missing, or its connection broke.</summary>
    public bool WasAskedAgain { get; internal set; }

    /// <summary>The reader has come to it and waits.</summary>
    public void Raise()
    {
        if (!Interlocked.Exchange(ref _isHeadOfLine, true))
            Volatile.Read(ref _follower)?.Raise();
    }

    /// <summary>How the fetch gets on; null while there is none.</summary>
    public FetchSnapshot? Look() => Volatile.Read(ref _follower)?.Look();

    /// <summary>From now on the follower is told when the urgency is raised. <see cref="IsHeadOfLine"/> is looked at after this.</summary>
    internal void Follow(IUrgent follower) => Interlocked.Exchange(ref _follower, follower);

    /// <summary>The follower is not told any more. Nothing happens when another one follows by now.</summary>
    internal void Unfollow(IUrgent follower) => Interlocked.CompareExchange(ref _follower, null, follower);
}

/// <summary>What is told when a reader comes to wait for an article.</summary>
internal interface IUrgent
{
    /// <summary>On the thread of the reader; must not block or throw.</summary>
    void Raise();

    /// <summary>How the fetch gets on; null while there is none. On any thread, under no lock.</summary>
    FetchSnapshot? Look();
}
