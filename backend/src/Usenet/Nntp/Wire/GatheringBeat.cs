using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// Ends the gathering of connections whose bytes do not come in time: a body that is shorter than it claims, or a line that became slower. One timer
/// for all connections, which runs only while one of them gathers.
/// </summary>
/// <remarks>Thread-safe. Its lock is taken above those of the streams.</remarks>
internal sealed class GatheringBeat : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(20);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly DeadlineTimer _timer;

    // Guarded by _gate.
    private readonly List<GatheringStream> _streams = [];

    public GatheringBeat(TimeProvider time)
    {
        _time = time;
        _timer = new DeadlineTimer(time, Beat);
    }

    public long Now => _time.GetTimestamp();

    public void Add(GatheringStream stream)
    {
        lock (_gate)
            _streams.Add(stream);
    }

    public void Remove(GatheringStream stream)
    {
        lock (_gate)
            _streams.Remove(stream);
    }

    /// <summary>Watches until no stream gathers any more.</summary>
    public void Watch() => _timer.Arm(Interval);

    public void Dispose() => _timer.Dispose();

    private void Beat()
    {
        var isNeeded = false;
        lock (_gate)
        {
            var latest = Now - (long)(GatheringStream.LongestTime.TotalSeconds * _time.TimestampFrequency);
            foreach (var stream in _streams)
                isNeeded |= stream.StopGathering(begunBefore: latest);
        }

        if (isNeeded)
            Watch();
    }
}
