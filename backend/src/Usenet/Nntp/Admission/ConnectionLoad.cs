namespace Sluice.Usenet.Nntp.Admission;

/// <summary>Numbers of bodies and STATs that an unmeasured connection takes. Above MostBytes outstanding, a new connection is faster.</summary>
internal readonly record struct LeaseTerms(int Depth, long MostBytes, int StatDepth)
{
    /// <summary>Playback bodies per connection as set by the user, overriding the measured depth; null to use that depth.</summary>
    public int? PlaybackDepth { get; init; }

    /// <summary>Whether another connection will serve soon, or may be dialed.</summary>
    public bool MoreMayServe { get; init; }

    public int BackgroundDepth { get; init; } = int.MaxValue;

    private int BodiesOn(ConnectionLoad load, OperationLane lane)
    {
        var borne = load.Depth > 0 ? load.Depth : Depth;
        return lane == OperationLane.Playback ? PlaybackDepth ?? borne : Math.Min(borne, BackgroundDepth);
    }

    public bool HaveRoom(ConnectionLoad load, in ArticleRequest request)
    {
        if (load.IsAlone || request.IsAlone)
            return false;
        return request.Stats == 0 ? load.Commands < BodiesOn(load, request.Lane) : load.Stats + request.Stats <= StatDepth;
    }
}

/// <summary>A connection as the gates see it.</summary>
internal interface ILeasedConnection
{
    /// <summary>Identifies the connection without keeping any of its objects alive.</summary>
    object Identity { get; }

    /// <summary>Whether the first reply is late. Takes no lock, because it is read under the lock of the pool.</summary>
    bool IsLate { get; }
}

/// <summary>The load of one connection. Used under the lock of its pool, except where noted.</summary>
internal sealed class ConnectionLoad(ILeasedConnection connection)
{
    /// <summary>The login of a distrusted connection: matches no login, so that the connection closes.</summary>
    public const int None = -1;

    private int _unwanted;

    public ILeasedConnection Connection => connection;

    public bool IsOpen { get; set; } = true;

    /// <summary>The login counter of the pool when this connection was opened, or <see cref="None"/>.</summary>
    public int Login { get; set; }

    /// <summary>Bodies that the connection takes at a time, as measured; 0 while unmeasured.</summary>
    public int Depth { get; set; }

    /// <summary>Granted leases plus outstanding replies, including abandoned ones.</summary>
    public int Commands { get; set; }

    /// <summary>Number of <see cref="Commands"/> abandoned but not yet read. Counted without the lock, so it may briefly be off by one.</summary>
    public int Unwanted => Volatile.Read(ref _unwanted);

    public int Stats { get; set; }

    /// <summary>Encoded bytes expected from the outstanding replies.</summary>
    public long Bytes { get; set; }

    /// <summary>The same for the data cap, with a usual size for replies of unknown size.</summary>
    public long LikelyBytes { get; set; }

    /// <summary>Articles that the readers of these commands will probably request next.</summary>
    public int Following { get; set; }

    /// <summary>The lane of all its commands, because two lanes never share a busy connection.</summary>
    public OperationLane Lane { get; set; }

    /// <summary>The reader of the last granted lease; null if no reader waits for a reply.</summary>
    public object? Reader { get; set; }

    /// <summary>Whether the first reply, a keep-alive's if <see cref="Commands"/> is 0, is late, so that no command is queued behind it.</summary>
    public bool IsLate => connection.IsLate;

    /// <summary>Whether its command must stay the only one outstanding.</summary>
    public bool IsAlone { get; set; }

    /// <summary>Whether the connection closes once it owes nothing, and takes no more commands.</summary>
    public bool IsLeaving { get; set; }

    /// <summary>Held while <see cref="Commands"/> is above 0.</summary>
    public OperationPermit? Permit { get; set; }

    /// <summary>Counts a command that takes this connection.</summary>
    public void Begin(in ArticleRequest request)
    {
        Commands++;
        Following += request.Urgency?.Following ?? 0;
        Reader = request.Urgency?.Reader;
        Bytes += request.ExpectedBytes;
        LikelyBytes += request.LikelyBytes;
        Stats += request.Stats;
        IsAlone = request.IsAlone;
    }

    /// <summary>Detaches the permit, which the caller disposes outside the lock; null if there is none.</summary>
    public OperationPermit? TakePermit()
    {
        var permit = Permit;
        Permit = null;
        return permit;
    }

    /// <summary>Counts an abandoned reply. <see cref="UnwantedEnded"/> follows, or has already been called.</summary>
    public void Abandon() => Interlocked.Increment(ref _unwanted);

    /// <summary>Counts the end of an abandoned reply.</summary>
    public void UnwantedEnded() => Interlocked.Decrement(ref _unwanted);

    public override string ToString() => $"{Commands} commands, {Unwanted} unwanted{(IsLate ? ", late" : "")}{(IsLeaving ? ", leaving" : "")}";
}
