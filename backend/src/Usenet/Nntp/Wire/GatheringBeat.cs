using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// Watches connections that gather bytes. Reports arriving bytes, so that no reply counts as late, and ends the gathering if no more bytes arrive, as for a
/// body shorter than claimed. Runs only while a connection gathers, and shares the timer of the connection clocks.
/// </summary>
/// <remarks>Thread-safe. The lock is taken before the streams' locks.</remarks>
internal sealed class GatheringBeat : IAsyncDisposable
{
    private static readonly TimeSpan Interval = DeadlineGrid.Coarse;

    // Shorter than any silence that makes a reply late.
    private static readonly TimeSpan LongestSilence = TimeSpan.FromMilliseconds(30);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly DeadlineGrid.Deadline _timer;

    // The gathering streams, guarded by _gate. A check removes streams that no longer gather, including closed ones.
    private readonly HashSet<GatheringStream> _streams = [];

    public GatheringBeat(TimeProvider time, DeadlineGrid deadlines)
    {
        _time = time;
        _timer = deadlines.Add(Beat);
    }

    public long Now => _time.GetTimestamp();

    /// <summary>Watches a stream until it stops gathering.</summary>
    public void Watch(GatheringStream stream)
    {
        lock (_gate)
            _streams.Add(stream);
        _timer.Arm(Interval);
    }

    public ValueTask DisposeAsync() => _timer.DisposeAsync();

    private void Beat()
    {
        lock (_gate)
        {
            var now = Now;
            var latest = now - (long)(LongestSilence.TotalSeconds * _time.TimestampFrequency);
            _streams.RemoveWhere(stream => !stream.Look(now, latest));
            if (_streams.Count > 0)
                _timer.Arm(Interval);
        }
    }
}
