using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Limits the bandwidth of the whole process, over all providers. It delays commands by the size of their replies, and never delays reading a socket. Requested
/// bytes arrive at line speed, and a delayed command has not been sent, so its wait is neither a silence nor a late reply (STR-14).
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields; it is taken below the lock of a pool, and above that of the timer. Nothing waits here: a delayed command waits
/// in its pool until <see cref="Due"/>. Without a limit, each call costs one check.
/// </remarks>
public sealed class BandwidthLimiter(TimeProvider time) : IDisposable
{
    // The background earns one byte per ten of playback; otherwise it would starve while readers use the whole limit.
    private const int BackgroundShare = 10;

    // Seconds of the limit that may be outstanding, plus one article per idle connection, because a silent server later sends everything at once.
    private const double MostAheadSeconds = 1;

    // Seconds of unused allowance kept while idle, and seconds granted afterwards if a busy machine ran the timer late.
    private const double SavedSeconds = 0.25;
    private const double MadeUpForSeconds = 1;

    // Timers do not accept delays of more than a few weeks.
    private const double LongestLookSeconds = 60;

    private readonly Lock _gate = new();
    private readonly List<PacedPool> _pools = [];
    private readonly long?[] _pacedAt = new long?[3];
    private DeadlineTimer? _timer;

    // Written under the gate, but read without it to check whether there is a limit.
    private long _bytesPerSecond;

    // Bytes requested beyond the allowance; negative if more may be requested at once. _at is the time of this value.
    private double _debt;
    private long _at;
    private long _owedToBackground;

    private long _turns;

    /// <summary>Raised outside of any lock when delayed commands may be sent.</summary>
    internal event Action? Due;

    /// <summary>Bytes per second; 0 for no limit.</summary>
    public long BytesPerSecond => Volatile.Read(ref _bytesPerSecond);

    /// <summary>Changes the limit from the next command on; 0 for no limit.</summary>
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

            // The timer checks the waiting commands again, because the caller may hold locks.
            _timer.Arm(TimeSpan.Zero);
        }
    }

    /// <summary>The time since a fetch of this lane last waited for the limit; zero while one waits.</summary>
    /// <remarks>Deadlines of dependent work start there. Waits of more urgent lanes count too, because they delay this one.</remarks>
    public TimeSpan SincePaced(OperationLane lane)
    {
        lock (_gate)
        {
            if (_pools.Exists(pool => pool.Held <= lane))
                return TimeSpan.Zero;
            return _pacedAt[(int)lane] is { } at ? time.GetElapsedTime(at) : TimeSpan.MaxValue;
        }
    }

    public void Dispose() => _timer?.Dispose();

    internal PacedPool Join()
    {
        var pool = new PacedPool(this);
        lock (_gate)
            _pools.Add(pool);
        return pool;
    }

    internal void Leave(PacedPool pool)
    {
        lock (_gate)
            _pools.Remove(pool);
    }

    /// <summary>Whether a command may be sent. A refusal marks its pool as waiting; nothing is charged before <see cref="Take"/>.</summary>
    internal PaceAnswer Ask(PacedPool pool, in ArticleRequest request, long outstanding, bool isIdle, bool isBehind)
    {
        lock (_gate)
        {
            if (_bytesPerSecond == 0)
                return PaceAnswer.Granted;
            Elapse();
            pool.Outstanding = outstanding;
            if (request.GoesUnpaced)
                return PaceAnswer.Granted;
            var (lane, cost) = (request.Lane, request.LikelyBytes);
            var isNext = isIdle || _pools.Sum(static each => each.Outstanding) + cost <= _bytesPerSecond * MostAheadSeconds;
            if (isNext && _debt <= 0 && !isBehind && !IsAnyBefore(pool, lane))
                return PaceAnswer.Granted;

            // The background may overtake waiting playback while it is owed the bytes.
            if (isNext && lane != OperationLane.Playback && _owedToBackground >= Math.Min(cost, ArticleRequest.UsualBytes))
                return PaceAnswer.Owed;

            // Recorded at once, so that no other pool takes this turn before this pool has checked its other waiters.
            if (!(pool.Held < lane))
                (pool.Held, pool.IsNext) = (lane, isNext);
            return isNext ? PaceAnswer.WaitsForTurn : PaceAnswer.WaitsForReplies;
        }
    }

    /// <summary>Charges a command about to be sent. If another pool was granted the same allowance meanwhile, the next command waits longer.</summary>
    internal void Take(PacedPool pool, in ArticleRequest request, PaceAnswer answer)
    {
        lock (_gate)
        {
            if (_bytesPerSecond == 0)
                return;
            var cost = request.LikelyBytes;
            _debt += cost;
            if (request.GoesUnpaced)
                return;
            pool.Turn = ++_turns;
            if (answer == PaceAnswer.Owed)
                _owedToBackground = Math.Max(0, _owedToBackground - Math.Min(cost, ArticleRequest.UsualBytes));
            else if (request.Lane == OperationLane.Playback)
                _owedToBackground = Math.Min(_owedToBackground + (cost / BackgroundShare), ArticleRequest.UsualBytes);
        }
    }

    /// <summary>Corrects the charge of an ended or unsent command by the bytes <paramref name="received"/>.</summary>
    internal void Settle(in ArticleRequest request, long received)
    {
        lock (_gate)
        {
            _debt += received - request.LikelyBytes;
            ArmTimer();
        }
    }

    /// <summary>Charges received bytes that no command was charged for.</summary>
    internal void Count(long bytes)
    {
        lock (_gate)
            _debt += bytes;
    }

    /// <summary>Records the state of a pool after it has checked all its waiters, as in <see cref="PacedPool"/>.</summary>
    internal void Tell(PacedPool pool, OperationLane? held, bool isNext, long outstanding)
    {
        lock (_gate)
        {
            var frees = outstanding < pool.Outstanding || (pool.Held is { } before && !(held <= before));
            if (pool.Held is { } was && held != was)
                NotePaced(was);
            (pool.Held, pool.IsNext, pool.Outstanding) = (held, isNext, outstanding);
            Elapse();

            // A pool that waits only for its own replies is checked at each reply, so it needs no timer.
            if (_debt > 0 || frees)
                ArmTimer();
        }
    }

    private bool IsAnyHeld => _pools.Exists(pool => pool.Held is not null);

    /// <summary>Whether another pool waits with a more urgent lane, or with the same lane and an earlier last turn.</summary>
    private bool IsAnyBefore(PacedPool own, OperationLane lane) =>
        _pools.Exists(each => each != own && each.IsNext && (each.Held < lane || (each.Held == lane && each.Turn < own.Turn)));

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
