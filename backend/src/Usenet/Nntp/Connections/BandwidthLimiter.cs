using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// One limit of bandwidth for the whole process, over all providers. It paces commands by the size of the replies that they ask for, and
/// never the reading of a socket: what has been asked for comes at the speed of the line, and what waits for the limit has not been asked
/// for yet, so that a wait for it is neither a silence nor a late reply (STR-14).
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; it is taken below the lock of a pool, and that of the timer below it. Nothing waits in here: a
/// command that may not go yet waits in its pool, which is woken by <see cref="Due"/>. While there is no limit all of it costs one look.
/// </remarks>
public sealed class BandwidthLimiter(TimeProvider time) : IDisposable
{
    // Where the size of an article is not known; and the most that an NZB is believed. What has come settles the difference.
    private const long UsualBytes = 750 * 1024;
    private const long MostBelieved = 2 << 20;

    // Of ten bytes of playback one is owed to the background, which would starve beside readers that take all there is.
    private const int BackgroundShare = 10;

    // Bytes may be outstanding for so long at the limit, or one article for each connection: what a silent server owes comes at once later.
    private const double MostAheadSeconds = 1;

    // Saved up while nothing was asked for; and made up for where the timer came late to what waited, as it does on a busy machine.
    private const double SavedSeconds = 0.25;
    private const double MadeUpForSeconds = 1;

    // A timer takes no longer times than some weeks.
    private const double LongestLookSeconds = 60;

    private readonly Lock _gate = new();
    private readonly List<PacedPool> _pools = [];
    private readonly long?[] _pacedAt = new long?[3];
    private DeadlineTimer? _timer;

    // Written under the gate, and read without it to find out whether there is a limit at all.
    private long _bytesPerSecond;

    // Bytes that were asked for beyond what the limit allows by now; below zero what may be asked for at once. And when that was so.
    private double _debt;
    private long _at;
    private long _owedToBackground;

    // Turns that pools have had.
    private long _turns;

    /// <summary>Commands that waited may go. Raised outside of any lock.</summary>
    internal event Action? Due;

    /// <summary>The limit; 0: none.</summary>
    public long BytesPerSecond => Volatile.Read(ref _bytesPerSecond);

    /// <summary>Takes on another limit, which counts from the next command.</summary>
    /// <param name="bytesPerSecond">0: none.</param>
    public void Configure(long bytesPerSecond)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytesPerSecond);
        lock (_gate)
        {
            if (bytesPerSecond == _bytesPerSecond)
                return;
            Elapse();
            if (_bytesPerSecond == 0)
                _debt = 0;
            Volatile.Write(ref _bytesPerSecond, bytesPerSecond);
            _timer ??= new DeadlineTimer(time, () => Due?.Invoke());

            // The caller may hold locks, and what waits has to look again.
            _timer.Arm(TimeSpan.Zero);
        }
    }

    /// <summary>
    /// For how long no fetch of a lane has waited for the limit: zero while one does. A deadline of what a fetch is for counts from there.
    /// </summary>
    /// <param name="lane">Fetches of less urgent lanes do not count, those of more urgent ones do: they hold it up.</param>
    public TimeSpan SincePaced(OperationLane lane)
    {
        lock (_gate)
        {
            if (_pools.Exists(pool => pool.Held <= lane))
                return TimeSpan.Zero;
            return _pacedAt[(int)lane] is { } at ? time.GetElapsedTime(at) : TimeSpan.MaxValue;
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _timer?.Dispose();

    /// <summary>A pool whose commands are paced from now on.</summary>
    internal PacedPool Join()
    {
        var pool = new PacedPool(this);
        lock (_gate)
            _pools.Add(pool);
        return pool;
    }

    /// <summary>The pool is closed.</summary>
    internal void Leave(PacedPool pool)
    {
        lock (_gate)
            _pools.Remove(pool);
    }

    /// <summary>Takes leave for a command that is about to be sent.</summary>
    /// <param name="pool">Whose it is.</param>
    /// <param name="request">What it asks for.</param>
    /// <param name="outstanding">Bytes that the connections of the pool owe.</param>
    /// <param name="isIdle">Whether its connection owes nothing.</param>
    /// <param name="isBehind">Whether more urgent commands of the same pool wait for the limit.</param>
    /// <param name="isNext">Whether it waits for its turn, and not for what is outstanding.</param>
    /// <returns>False when it has to wait.</returns>
    internal bool TryTake(PacedPool pool, in ArticleRequest request, long outstanding, bool isIdle, bool isBehind, out bool isNext)
    {
        lock (_gate)
        {
            isNext = true;
            if (_bytesPerSecond == 0)
                return true;
            Elapse();
            pool.Outstanding = outstanding;
            var cost = CostOf(request);
            if (request.GoesUnpaced)
            {
                _debt += cost;
                return true;
            }

            var lane = request.Lane;
            isNext = isIdle || _pools.Sum(static each => each.Outstanding) + cost <= _bytesPerSecond * MostAheadSeconds;
            if (!isNext || !((_debt <= 0 && !isBehind && !IsAnyBefore(pool, lane)) || TryTakeOwed(lane, cost)))
            {
                // At once, so that no other pool takes what this one waits for before it has looked at the rest.
                if (!(pool.Held < lane))
                    (pool.Held, pool.IsNext) = (lane, isNext);
                return false;
            }

            _debt += cost;
            pool.Turn = ++_turns;
            if (lane == OperationLane.Playback)
                _owedToBackground = Math.Min(_owedToBackground + (cost / BackgroundShare), UsualBytes);
            return true;
        }
    }

    /// <summary>A command that has taken leave has ended, or was not sent: what has come settles what was foreseen.</summary>
    /// <param name="request">What it asked for.</param>
    /// <param name="received">Bytes that have come for it.</param>
    internal void Settle(in ArticleRequest request, long received)
    {
        lock (_gate)
        {
            _debt += received - CostOf(request);
            ArmTimer();
        }
    }

    /// <summary>Bytes have come for which no leave was taken.</summary>
    internal void Count(long bytes)
    {
        lock (_gate)
            _debt += bytes;
    }

    /// <summary>A pool has looked at all that waits in it.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="held">The most urgent lane whose commands wait for the limit alone; null: none does.</param>
    /// <param name="isNext">Whether they wait for their turn, and not for what is outstanding.</param>
    /// <param name="outstanding">Bytes that its connections owe.</param>
    internal void Tell(PacedPool pool, OperationLane? held, bool isNext, long outstanding)
    {
        lock (_gate)
        {
            var frees = outstanding < pool.Outstanding || (pool.Held is { } before && !(held <= before));
            if (pool.Held is { } was && held != was)
                NotePaced(was);
            (pool.Held, pool.IsNext, pool.Outstanding) = (held, isNext, outstanding);
            Elapse();

            // What waits for nothing but this pool's own replies is looked at with each of them.
            if (_debt > 0 || frees)
                ArmTimer();
        }
    }

    private bool IsAnyHeld => _pools.Exists(pool => pool.Held is not null);

    /// <summary>What a command is expected to bring.</summary>
    private static long CostOf(in ArticleRequest request) =>
        request.ExpectedBytes > 0 ? Math.Min(request.ExpectedBytes, MostBelieved) : UsualBytes;

    /// <summary>Whether another pool waits with something more urgent, or with the same and has had its turn longer ago.</summary>
    private bool IsAnyBefore(PacedPool own, OperationLane lane) =>
        _pools.Exists(each => each != own && each.IsNext && (each.Held < lane || (each.Held == lane && each.Turn < own.Turn)));

    /// <summary>The background goes beside playback that waits, as far as that is owed to it.</summary>
    private bool TryTakeOwed(OperationLane lane, long cost)
    {
        cost = Math.Min(cost, UsualBytes);
        if (lane == OperationLane.Playback || _owedToBackground < cost)
            return false;
        _owedToBackground -= cost;
        return true;
    }

    private void ArmTimer()
    {
        if (_bytesPerSecond > 0 && IsAnyHeld)
            _timer!.Arm(TimeSpan.FromSeconds(Math.Clamp(_debt / _bytesPerSecond, 0, LongestLookSeconds)));
    }

    private void NotePaced(OperationLane lane)
    {
        for (var held = lane; held <= OperationLane.HealthCheck; held++)
            _pacedAt[(int)held] = time.GetTimestamp();
    }

    private void Elapse()
    {
        var now = time.GetTimestamp();
        var least = _debt > 0 && IsAnyHeld ? -MadeUpForSeconds * _bytesPerSecond : Math.Min(_debt, -SavedSeconds * _bytesPerSecond);
        _debt = Math.Max(_debt - (time.GetElapsedTime(_at, now).TotalSeconds * _bytesPerSecond), least);
        _at = now;
    }
}

/// <summary>The connections of one account, as the limit of bandwidth sees them. Made by <see cref="BandwidthLimiter.Join"/>.</summary>
/// <remarks>Changed by the limiter alone, under its lock and in calls of the pool, which may look at it under its own.</remarks>
internal sealed class PacedPool(BandwidthLimiter limiter)
{
    /// <summary>Whether there is a limit.</summary>
    public bool IsLimited => limiter.BytesPerSecond > 0;

    /// <summary>The most urgent lane whose commands wait for the limit alone; null: none does.</summary>
    public OperationLane? Held { get; set; }

    /// <summary>Whether they wait for their turn, and not for what is outstanding.</summary>
    public bool IsNext { get; set; }

    /// <summary>Which turn was its last one.</summary>
    public long Turn { get; set; }

    /// <summary>Bytes that its connections owe.</summary>
    public long Outstanding { get; set; }

    /// <inheritdoc cref="BandwidthLimiter.TryTake"/>
    public bool TryTake(in ArticleRequest request, long outstanding, bool isIdle, bool isBehind, out bool isNext) =>
        limiter.TryTake(this, request, outstanding, isIdle, isBehind, out isNext);

    /// <inheritdoc cref="BandwidthLimiter.Settle"/>
    public void Settle(in ArticleRequest request, long received) => limiter.Settle(request, received);

    /// <inheritdoc cref="BandwidthLimiter.Tell"/>
    public void Tell(OperationLane? held, bool isNext, long outstanding) => limiter.Tell(this, held, isNext, outstanding);

    /// <inheritdoc cref="BandwidthLimiter.Leave"/>
    public void Leave() => limiter.Leave(this);
}
