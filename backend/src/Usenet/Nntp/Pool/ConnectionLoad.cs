namespace Sluice.Usenet.Nntp;

/// <summary>How busy a connection is, as its pool sees it. Guarded by the lock of that pool.</summary>
/// <param name="connection">The one.</param>
/// <param name="sent">What it owes, whether in time or late.</param>
internal sealed class ConnectionLoad(NntpConnection connection, PendingReplies sent)
{
    private int _unwanted;

    /// <summary>The connection that bears it.</summary>
    public NntpConnection Connection => connection;

    /// <summary>Bodies that it takes at a time, by what it has shown; 0 while it has shown nothing.</summary>
    public int Depth { get; set; }

    /// <summary>Leases given and replies still to come, unwanted ones included.</summary>
    public int Commands { get; set; }

    /// <summary>
    /// Those of <see cref="Commands"/> that have been given up while their replies are still to come. Counted without the lock, by
    /// whoever gives one up and by the connection; for a moment it may be one off.
    /// </summary>
    public int Unwanted => Volatile.Read(ref _unwanted);

    /// <summary>STAT commands of these leases.</summary>
    public int Stats { get; set; }

    /// <summary>Encoded bytes that these replies are expected to bring.</summary>
    public long Bytes { get; set; }

    /// <summary>Articles that their readers will probably ask for next.</summary>
    public int Following { get; set; }

    /// <summary>The lane of all of them; two lanes never share a busy connection.</summary>
    public OperationLane Lane { get; set; }

    /// <summary>On whose behalf the last of them was given; null while nobody who reads is owed anything.</summary>
    public object? Reader { get; set; }

    /// <summary>
    /// Whether its first reply is late: nothing more is placed behind it. Not while nothing is outstanding; with
    /// <see cref="Commands"/> at 0 that is a sign of life.
    /// </summary>
    public bool IsLate => sent.IsLate;

    /// <summary>Whether its command is to be the only one outstanding.</summary>
    public bool IsAlone { get; set; }

    /// <summary>Whether it is to close as soon as it owes nothing; nothing more is placed here.</summary>
    public bool IsLeaving { get; set; }

    /// <summary>Which login of its account it was opened with.</summary>
    public int Login { get; init; }

    /// <summary>Held while <see cref="Commands"/> is above 0.</summary>
    public OperationPermit? Permit { get; set; }

    /// <summary>Takes the permit out, for its new owner to dispose outside of the lock; null when there is none.</summary>
    public OperationPermit? TakePermit()
    {
        var permit = Permit;
        Permit = null;
        return permit;
    }

    /// <summary>A reply is not wanted any more; <see cref="UnwantedEnded"/> follows, or has come.</summary>
    public void Abandon() => Interlocked.Increment(ref _unwanted);

    /// <summary>A reply that was not wanted any more has ended.</summary>
    public void UnwantedEnded() => Interlocked.Decrement(ref _unwanted);

    /// <summary>Whether leases may be given.</summary>
    public bool IsOpen { get; set; } = true;
}
