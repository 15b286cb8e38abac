using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Providers;

/// <summary>Returns the time since a fetch of a lane last waited for the bandwidth limit; zero while one waits. Deadlines exclude such waits.</summary>
internal delegate TimeSpan SincePaced(OperationLane lane);

/// <summary>
/// The bandwidth limit in force (STR-14): a client's limit if lower, otherwise the scheduled or configured one. Settings apply at once, and the schedule
/// by the minute.
/// </summary>
/// <remarks>Thread-safe. <c>_gate</c> serializes changes. Only the lock of the limiter is taken inside it.</remarks>
internal sealed class BandwidthLimit : IDisposable
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly Lock _gate = new();
    private readonly IOptionsMonitor<UsenetOptions> _usenet;
    private readonly IOptionsMonitor<QueueOptions> _queue;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly IDisposable?[] _watches;

    public BandwidthLimit(IOptionsMonitor<UsenetOptions> usenet, IOptionsMonitor<QueueOptions> queue, TimeProvider time)
    {
        (_usenet, _queue, _time) = (usenet, queue, time);
        Limiter = new BandwidthLimiter(time);
        _timer = time.CreateTimer(static limit => ((BandwidthLimit)limit!).Follow(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        Follow();
        _watches = [usenet.OnChange(_ => Follow()), queue.OnChange(_ => Follow())];
    }

    /// <summary>Limits the commands of all accounts.</summary>
    public BandwidthLimiter Limiter { get; }

    /// <summary>The configured limit in bytes per second, ignoring the schedule; 0 for unlimited.</summary>
    public long Configured => _usenet.CurrentValue.BandwidthLimit;

    /// <summary>The limit in force in bytes per second; 0 for unlimited.</summary>
    public long Current => Limiter.BytesPerSecond;

    public void Dispose()
    {
        foreach (var watch in _watches)
            watch?.Dispose();
        _timer.Dispose();
        Limiter.Dispose();
    }

    private void Follow()
    {
        lock (_gate)
        {
            var (usenet, kept) = (_usenet.CurrentValue, _queue.CurrentValue.SpeedLimit);
            var now = TimeZoneInfo.ConvertTime(_time.WallTime(), _time.LocalTimeZone).DateTime;
            var limit = usenet.Schedule.At(now) ?? usenet.BandwidthLimit;
            Limiter.Configure(limit == 0 || (kept > 0 && kept < limit) ? kept : limit);
            _timer.Change(usenet.Schedule.IsEmpty ? Timeout.InfiniteTimeSpan : Minute - TimeSpan.FromTicks(now.Ticks % Minute.Ticks), Timeout.InfiniteTimeSpan);
        }
    }
}
