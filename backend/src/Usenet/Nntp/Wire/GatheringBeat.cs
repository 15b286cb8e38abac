using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>
/// Watches connections that gather: reports the bytes that arrive, so that no reply counts as late, and ends the gathering when no more come, as in a
/// body that is shorter than it claims. It looks only while one of them gathers, together with the clocks of all connections.
/// </summary>
/// <remarks>Thread-safe. Its lock is taken above those of the streams.</remarks>
internal sealed class GatheringBeat : IAsyncDisposable
{
    private static readonly TimeSpan Interval = DeadlineGrid.Coarse;

    // Below the shortest silence after which a reply is late.
    private static readonly TimeSpan LongestSilence = TimeSpan.FromMilliseconds(30);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly DeadlineGrid.Deadline _timer;

    // Guarded by _gate: streams that gather. A stream leaves when it is looked at and gathers no more, closed ones included.
    private readonly HashSet<GatheringStream> _streams = [];

    public GatheringBeat(TimeProvider time, DeadlineGrid deadlines)
    {
        _time = time;
        _timer = deadlines.Add(Beat);
    }

    public long Now => _time.GetTimestamp();

    /// <summary>Watches a stream until it gathers no more.</summary>
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
