using Sluice.Testing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// A reader on a line of given rate and round trip, with a manual clock. It requests articles as the policy says. They begin to
/// arrive a round trip later, one after the other, and are read in order: the first while it arrives, the others once they are
/// complete.
/// </summary>
internal sealed class SimulatedLine
{
    public const int SegmentBytes = 700_000;
    private const int ChunkBytes = 64 * 1024;

    private readonly ManualTimeProvider _time = new();
    private readonly Queue<(DateTimeOffset At, long AskedFor, bool IsLate)> _arrivals = new();
    private readonly Random _random;
    private readonly LineMemory _memory;
    private ReadAheadPolicy _policy;
    private readonly DateTimeOffset _began;
    private DateTimeOffset _lineFree;
    private TimeSpan _delay;
    private int _head;

    public SimulatedLine(int seed = 5)
    {
        _random = new Random(seed);
        _began = _time.GetUtcNow();
        _memory = new LineMemory(_time);
        _policy = NewPolicy();
    }

    /// <summary>Bytes per second of the line.</summary>
    public double Rate { get; set; } = 1e12;

    public TimeSpan RoundTrip { get; set; }

    /// <summary>Uniform variation of the round trip, as a fraction.</summary>
    public double Jitter { get; set; }

    /// <summary>Bytes per second that the reader consumes; infinity for a greedy reader.</summary>
    public double Pace { get; set; } = double.PositiveInfinity;

    /// <summary>Number of leading segments on disk: while the reader is in them, no article is requested ahead.</summary>
    public int OnDisk { get; init; }

    /// <summary>Time in which the line grows from a tenth of its rate to all of it, while connections are opened.</summary>
    public TimeSpan WidensFor { get; init; }

    /// <summary>Memory that the reader may hold.</summary>
    public long Share { get; set; } = 1L << 40;

    /// <summary>Segments that the policy may hold now.</summary>
    public int Target => _policy.Target(SegmentBytes, Share);

    /// <summary>Most segments held so far.</summary>
    public int MostHeld { get; private set; }

    /// <summary>Longest wait since the last call of <see cref="MakeLate"/>.</summary>
    public TimeSpan LongestWait { get; private set; }

    /// <summary>Segments needed for the rate and round trip: one arriving, and a round trip's worth behind it.</summary>
    public double Needed => 1 + (Rate * RoundTrip.TotalSeconds / SegmentBytes);

    /// <summary>Reads for some time.</summary>
    /// <returns>Bytes per second.</returns>
    public double Read(TimeSpan span)
    {
        var (began, first) = (_time.GetUtcNow(), _head);
        while (_time.GetUtcNow() - began < span)
            ReadSegment();
        return (double)(_head - first) * SegmentBytes / (_time.GetUtcNow() - began).TotalSeconds;
    }

    /// <summary>Reads up to a segment.</summary>
    /// <returns>The time that took.</returns>
    public TimeSpan ReadTo(int segment)
    {
        var began = _time.GetUtcNow();
        while (_head < segment)
            ReadSegment();
        return _time.GetUtcNow() - began;
    }

    /// <summary>Moves to another position: requested articles are discarded, but the line still delivers those in flight.</summary>
    public void Seek()
    {
        _arrivals.Clear();
        (_policy, _head, MostHeld) = (NewPolicy(), 0, 0);
    }

    /// <summary>Delays the next requested article, as a second try would; the articles after it arrive in time.</summary>
    public void MakeLate(TimeSpan delay) => (_delay, LongestWait) = (delay, TimeSpan.Zero);

    /// <summary>Lets time pass without a read.</summary>
    public void Pause(TimeSpan span) => _time.Advance(span);

    private TimeSpan TransferOf(int bytes)
    {
        var open = WidensFor > TimeSpan.Zero ? Math.Min(1, 0.1 + (0.9 * (_time.GetUtcNow() - _began) / WidensFor)) : 1;
        return TimeSpan.FromSeconds(bytes / (Rate * open));
    }

    private ReadAheadPolicy NewPolicy() => new(new StreamOptions(), _memory, _time);

    private void ReadSegment()
    {
        Fill();
        var (arrival, askedFor, isLate) = _arrivals.Peek();
        var isLanding = _head == 0;
        var readable = isLanding ? arrival - TransferOf(SegmentBytes - 1) : arrival;
        if (readable > _time.GetUtcNow())
        {
            if (!isLanding)
                _policy.Waited(_head);
            Fill();
            var wait = readable - _time.GetUtcNow();
            if (wait > LongestWait)
                LongestWait = wait;
            _time.Advance(wait);
            if (_head >= OnDisk)
                _policy.Arrived(askedFor, isLate);
        }

        for (var taken = 0; taken < SegmentBytes;)
        {
            var chunk = Math.Min(ChunkBytes, SegmentBytes - taken);
            taken += chunk;
            if (isLanding && arrival - TransferOf(SegmentBytes - taken) - _time.GetUtcNow() is var still && still > TimeSpan.Zero)
                _time.Advance(still);
            if (double.IsFinite(Pace))
                _time.Advance(TimeSpan.FromSeconds(chunk / Pace));
            if (taken == SegmentBytes)
                _arrivals.Dequeue();
            _policy.Delivered(chunk, _head, taken == SegmentBytes);
            if (taken == SegmentBytes)
                _head++;
            Fill();
        }
    }

    private void Fill()
    {
        while (_arrivals.Count == 0 || (_head >= OnDisk && _arrivals.Count < Target))
        {
            if (_head + _arrivals.Count < OnDisk)
            {
                _arrivals.Enqueue((_time.GetUtcNow() + TimeSpan.FromMilliseconds(_head == 0 ? 1 : 0), _time.GetTimestamp(), false));
                continue;
            }

            var spread = 1 + (Jitter * ((2 * _random.NextDouble()) - 1));
            var begins = _time.GetUtcNow() + (RoundTrip * spread);
            _lineFree = (begins > _lineFree ? begins : _lineFree) + TransferOf(SegmentBytes);
            _arrivals.Enqueue((_lineFree + _delay, _time.GetTimestamp(), _delay > TimeSpan.Zero));
            _delay = TimeSpan.Zero;
            MostHeld = Math.Max(MostHeld, _arrivals.Count);
        }
    }
}
