namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// The gates of one account that a command passes, in the order of <see cref="Gate"/>. Asking only records the lane that the bandwidth limit delays. A command
/// takes its shares once all gates of a connection are open.
/// </summary>
/// <remarks>Used under the lock of the pool; below it only the locks of the two limiters are taken. Times are ticks of the time provider.</remarks>
internal sealed class CommandGates(GlobalOperationLimiter limiter, QuotaGate quota, PacedPool pace, TimeProvider time, List<ConnectionLoad> open)
{
    private readonly LineCeiling _ceiling = new();

    // The most urgent lane delayed by the bandwidth limit alone, and whether it waits for its turn. _stoodSince is the start of this delay, _stood the total
    // of earlier ones.
    private OperationLane? _held;
    private bool _isNext;
    private long? _stoodSince;
    private long _stood;

    /// <summary>Whether more requests would only queue on the line.</summary>
    public bool IsLineFull => _ceiling.IsFull;

    public bool IsBandwidthLimited => pace.IsLimited;

    /// <summary>Whether the next fetch waits for the bandwidth limit alone.</summary>
    public bool IsPaced => _held is not null;

    /// <summary>The clock for the deadlines of waits. It stops while the bandwidth limit suspends them.</summary>
    public long WaitTime
    {
        get
        {
            var now = time.GetTimestamp();
            return now - PacedFor(now);
        }
    }

    /// <summary>Encoded bytes outstanding on all connections.</summary>
    public long Bytes
    {
        get
        {
            long bytes = 0;
            foreach (var load in open)
                bytes += load.Bytes;
            return bytes;
        }
    }

    /// <summary>Total ticks for which the bandwidth limit suspended the waits. This time does not count as waiting.</summary>
    public long PacedFor(long now) => _stood + (_stoodSince is { } since ? now - since : 0);

    /// <summary>Forgets the lane that the bandwidth limit delayed, before all waiters are asked again.</summary>
    public void BeginRound() => _held = null;

    /// <summary>Reports the lane that the bandwidth limit delays, and starts or ends the suspension of the waits.</summary>
    public void EndRound()
    {
        if (pace.IsLimited || pace.Held is not null)
            pace.Tell(_held, _isNext, Bytes);
        if (IsPaced == _stoodSince.HasValue)
            return;
        var now = time.GetTimestamp();
        (_stood, _stoodSince) = (PacedFor(now), IsPaced ? (long?)now : null);
    }

    /// <summary>
    /// Asks the gates that need no connection. Refuses a fetch that would only queue on the wire, because nothing can overtake it there. A waiting reader
    /// always passes. The background keeps one command outstanding, however full a viewer's line is.
    /// </summary>
    public Gate Ask(in ArticleRequest request, LeaseClass order)
    {
        if (!quota.Fits(request, open))
            return Gate.Quota;
        if (_held == request.Lane && !request.GoesUnpaced)
            return Gate.Bandwidth;
        var hasRoom = order switch
        {
            LeaseClass.Ahead => Bytes < (IsSharedWith(request.Urgency?.Reader) ? _ceiling.Shared : _ceiling.Own),
            LeaseClass.Background => Bytes < _ceiling.Own || HasNoBackground() || !limiter.IsPlaying,
            _ => true,
        };
        return hasRoom ? Gate.None : Gate.Line;
    }

    /// <summary>Asks the other gates for a command on this connection, and passes them if all are open.</summary>
    /// <returns>The gate at which the command waits, having taken nothing; <see cref="Gate.None"/> if it passed.</returns>
    public Gate TryPass(ConnectionLoad load, in ArticleRequest request, in LeaseTerms terms)
    {
        // 1. Ask all gates, in order.
        var isIdle = load.Commands == 0;
        if (!isIdle && (load.Bytes > terms.MostBytes || quota.IsNearEnd(open.Count)))
            return Gate.Depth;
        if (!isIdle && !limiter.MayContinue(request.Lane))
            return Gate.Share;
        var answer = pace.IsLimited ? AskPace(request, isIdle) : PaceAnswer.Granted;
        if (answer is not (PaceAnswer.Granted or PaceAnswer.Owed))
            return Gate.Bandwidth;

        // 2. Take them. The permit comes last and is requested and taken in one step, because another account may take the last one meanwhile.
        if (isIdle)
        {
            if (limiter.TryAcquire(request.Lane) is not { } permit)
                return Gate.Permit;
            (load.Permit, load.Lane) = (permit, request.Lane);
        }

        if (pace.IsLimited)
            pace.Take(request, answer);
        load.Begin(request);
        return Gate.None;
    }

    public void Settle(in ArticleRequest request, long received)
    {
        if (pace.IsLimited && request.Stats == 0)
            pace.Settle(request, received);
    }

    /// <summary>Measures the line by a finished body and the bytes outstanding when its lease was granted, including its own.</summary>
    public void Measure(long bytes, TimeSpan took, long outstanding) =>
        _ceiling.Ended(bytes, took.TotalSeconds, outstanding, Bytes, (double)time.GetTimestamp() / time.TimestampFrequency);

    /// <summary>Whether no connection currently serves the background lanes.</summary>
    public bool HasNoBackground() => open.TrueForAll(static load => load.Commands == 0 || load.Lane == OperationLane.Playback);

    private PaceAnswer AskPace(in ArticleRequest request, bool isIdle)
    {
        var answer = pace.Ask(request, Bytes, isIdle, isBehind: _held < request.Lane);
        if (answer is PaceAnswer.WaitsForReplies or PaceAnswer.WaitsForTurn && !(_held < request.Lane))
            (_held, _isNext) = (request.Lane, answer == PaceAnswer.WaitsForTurn);
        return answer;
    }

    private bool IsSharedWith(object? reader)
    {
        foreach (var load in open)
        {
            if (load.Reader is { } other && other != reader)
                return true;
        }

        return false;
    }
}
