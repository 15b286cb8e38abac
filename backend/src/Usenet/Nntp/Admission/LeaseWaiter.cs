using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>The order in which fetches are served, first class first.</summary>
internal enum LeaseClass : byte
{
    /// <summary>A reader waits for a fetch that needs its own connection. It gets the first idle one; others may share busy ones.</summary>
    Alone,

    /// <summary>A reader waits for the article right now.</summary>
    HeadOfLine,

    /// <summary>The article is prefetched: its reader has not reached it yet.</summary>
    Ahead,

    /// <summary>A fetch that needs its own connection and has no waiting reader.</summary>
    AloneUnwatched,

    /// <summary>Imports and health checks.</summary>
    Background,
}

/// <summary>A fetch in a queue for a connection. The wait ends once, by a grant or a refusal, and holds nothing before.</summary>
/// <remarks>Used under the lock of the pool, except where noted.</remarks>
internal abstract class LeaseWaiter(in ArticleRequest request) : Completion<bool>
{
    // Cost of STAT and other commands without a body in a queue that shares by bytes.
    private const long SmallestCost = 512;

    private readonly ArticleRequest _request = request;
    private Exception? _refusal;
    private long _askedAt;

    public ref readonly ArticleRequest Request => ref _request;

    /// <summary>The connection that takes the command; null before the grant.</summary>
    public ConnectionLoad? Load { get; private set; }

    /// <summary>When it was granted, in ticks of the time provider; 0 before.</summary>
    public long GrantedAt { get; private set; }

    /// <summary>Encoded bytes that the provider owed on all connections at the grant, including this command.</summary>
    public long OutstandingAtGrant { get; private set; }

    /// <summary>How long the bandwidth limit suspended the wait, in the same ticks; valid once the wait has ended.</summary>
    public long PacedFor { get; private set; }

    /// <summary>Bytes charged to its party in a fair queue.</summary>
    public long Cost => Math.Max(_request.ExpectedBytes, SmallestCost);

    /// <summary>The class in which it waits; null if it does not wait.</summary>
    public LeaseClass? Class { get; set; }

    /// <summary>The gate that refused it last; unchanged while it waits behind others.</summary>
    public Gate WaitsAt { get; set; }

    public LeaseWaiter? Before { get; set; }

    /// <summary>The next lease in its queue, or in the list of ended waits that are not yet reported.</summary>
    public LeaseWaiter? Next { get; set; }

    /// <summary>When the wait expires, on the clock of the waits, in ticks of the time provider.</summary>
    public long Deadline { get; private set; }

    /// <summary>When its fetch is notified of a long wait, on the same clock.</summary>
    public long LateAt { get; set; } = long.MaxValue;

    /// <summary>Whether its fetch wants to learn of a long wait.</summary>
    public abstract bool HasFetch { get; }

    /// <summary>Whether the lease holds a connection: from the grant until the connection is returned. Only the owner reads it, after the wait.</summary>
    protected bool IsHeld { get; set; }

    /// <summary>Notifies its fetch of a long wait. Called under no lock.</summary>
    public abstract void OnLongWait();

    /// <summary>Begins the wait. <paramref name="paced"/> ticks of waits were suspended before.</summary>
    public void Wait(long now, long paced, long deadline) => (_askedAt, PacedFor, Deadline) = (now, paced, deadline);

    /// <summary>Ends the wait: a connection takes the command. <paramref name="paced"/> is 0 if it did not wait.</summary>
    public void Grant(ConnectionLoad load, long now, long outstanding, long paced = 0)
    {
        (Load, IsHeld) = (load, true);
        (GrantedAt, OutstandingAtGrant, PacedFor) = (now, outstanding, paced - PacedFor);
    }

    public void Refuse(Exception failure) => _refusal = failure;

    /// <summary>Reports the end of the wait. Called under no lock.</summary>
    /// <param name="meter">Counts the time of the wait.</param>
    /// <param name="inline">Whether the fetch may send its command in this call. Never after a refusal, because the fetch may then do more work.</param>
    public void Settle(NntpMeter meter, bool inline)
    {
        meter.Waited(_askedAt);
        if (IsHeld)
            End(true, inline);
        else
            End(_refusal!);
    }
}
