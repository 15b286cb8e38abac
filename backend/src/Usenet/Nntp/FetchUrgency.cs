namespace Sluice.Usenet.Nntp;

/// <summary>The urgency of one article. The article's reader, who may start to wait at any time, shares it with the running fetch.</summary>
/// <remarks>Thread-safe. Urgency only rises.</remarks>
public sealed class FetchUrgency : IUrgent
{
    private bool _isHeadOfLine;

    // A pool's fetch, or the urgency of a load started for another reader; never both at once. Not an event, because an event handler would cost one more
    // object per article.
    private IUrgent? _follower;

    /// <param name="reader">Compared by reference, so that connections are shared fairly among readers.</param>
    /// <param name="isHeadOfLine">Whether the reader already waits.</param>
    public FetchUrgency(object reader, bool isHeadOfLine)
    {
        Reader = reader;
        _isHeadOfLine = isHeadOfLine;
    }

    public object Reader { get; }

    /// <summary>The account of the reader; null if it has none. A member of the reader, because a field here would cost every article memory.</summary>
    public ReaderAccount? Account => (Reader as IChargedReader)?.Account;

    /// <summary>Number of articles that the reader will probably request next. Connections for them are dialed early, because handshakes are slow.</summary>
    public int Following { get; init; }

    /// <summary>Whether the reader waits now, so that the fetch overtakes prefetches.</summary>
    public bool IsHeadOfLine => Volatile.Read(ref _isHeadOfLine);

    /// <summary>Whether the article was requested twice because it was late. Its duration then says nothing about the line.</summary>
    public bool WasLate { get; internal set; }

    /// <summary>Whether the article was requested more than once, because it was late, damaged or missing, or its connection broke.</summary>
    public bool WasAskedAgain { get; internal set; }

    /// <summary>Marks that the reader now waits for the article.</summary>
    public void Raise()
    {
        if (!Interlocked.Exchange(ref _isHeadOfLine, true))
            Volatile.Read(ref _follower)?.Raise();
    }

    /// <summary>The current progress of the fetch; null if there is no fetch.</summary>
    public FetchSnapshot? Look() => Volatile.Read(ref _follower)?.Look();

    /// <summary>Sets the follower, which must check <see cref="IsHeadOfLine"/> afterwards, so that no raise is lost.</summary>
    internal void Follow(IUrgent follower) => Interlocked.Exchange(ref _follower, follower);

    /// <summary>Removes the follower, unless another one has replaced it.</summary>
    internal void Unfollow(IUrgent follower) => Interlocked.CompareExchange(ref _follower, null, follower);
}

/// <summary>Notified when a reader starts to wait for an article.</summary>
internal interface IUrgent
{
    /// <summary>Called on the reader's thread; must not block or throw.</summary>
    void Raise();

    /// <summary>The current progress; null if there is no fetch. Called on any thread, under no lock.</summary>
    FetchSnapshot? Look();
}
