namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// Measured timings of one connection or of all connections of a provider: round trip, rate, article and handshake times. They decide how deep to pipeline and
/// whether waiting beats dialing. A connection's estimate also updates its provider's, and falls back to it until it has samples.
/// </summary>
/// <remarks>Thread-safe: read loops write and the scheduler reads. Each field is one word, and a lost update only costs a sample.</remarks>
internal sealed class LineEstimate(TimeProvider time, LineEstimate? provider = null)
{
    private const double NewSampleWeight = 0.2;

    // A lower bound in seconds, because a reply that arrives in one piece takes no measurable time.
    private const double Shortest = 1e-6;

    private readonly UsualSilence _silences = new();
    private readonly RecentRoundTrips? _recent = provider is null ? new RecentRoundTrips() : null;
    private double _roundTrip;
    private double _bytesPerSecond;
    private double _handshake;
    private double _transfer;
    private double _answer;

    /// <summary>Seconds from a command to the first byte of its reply; 0 if unknown.</summary>
    public double RoundTrip => Volatile.Read(ref _roundTrip) is var known and > 0 ? known : provider?.RoundTrip ?? 0;

    /// <summary>Median time to the first byte of the provider's recent replies; null before the first.</summary>
    public TimeSpan? Latency => provider is null ? _recent!.Median : provider.Latency;

    /// <summary>Bytes per second of one connection while it receives a body; 0 if unknown.</summary>
    public double BytesPerSecond => Volatile.Read(ref _bytesPerSecond) is var known and > 0 ? known : provider?.BytesPerSecond ?? 0;

    /// <summary>Seconds from the first to the last byte of a body of typical size; 0 if unknown.</summary>
    public double Transfer => Volatile.Read(ref _transfer) is var known and > 0 ? known : provider?.Transfer ?? 0;

    /// <summary>Seconds between single-line replies; 0 if unknown.</summary>
    public double Answer => Volatile.Read(ref _answer) is var known and > 0 ? known : provider?.Answer ?? 0;

    /// <summary>Seconds to open a connection; if unknown, assumes four round trips of 50 ms.</summary>
    public double Handshake => provider?.Handshake ?? (Volatile.Read(ref _handshake) is var known and > 0 ? known : 0.2);

    public void ObserveRoundTrip(long from)
    {
        var waited = time.GetElapsedTime(from);
        Observe(ref _roundTrip, waited.TotalSeconds);
        _recent?.Add(waited);
        provider?.ObserveRoundTrip(from);
    }

    public void ObserveHandshake(long from) => Observe(ref _handshake, time.GetElapsedTime(from).TotalSeconds);

    /// <summary>Measures a whole body. Small bodies do not count for the rate, because they mostly reflect the round trip.</summary>
    public void ObserveTransfer(long bytes, long from)
    {
        const int SmallestTelling = 32 * 1024;
        var seconds = time.GetElapsedTime(from).TotalSeconds;
        Observe(ref _transfer, Within(seconds, Volatile.Read(ref _transfer)));
        if (bytes >= SmallestTelling && seconds > 0)
            Observe(ref _bytesPerSecond, bytes / seconds);
        provider?.ObserveTransfer(bytes, from);
    }

    /// <summary>Measures consecutive single-line replies since the first at <paramref name="from"/>. Too few are ignored.</summary>
    public void ObserveAnswers(int answers, long from)
    {
        const int FewestTelling = 8;
        if (answers < FewestTelling)
            return;
        Observe(ref _answer, Math.Max(time.GetElapsedTime(from).TotalSeconds / (answers - 1), Shortest));
        provider?.ObserveAnswers(answers, from);
    }

    /// <summary>Recent silences within replies, shared by all connections of the provider.</summary>
    public UsualSilence Silences => provider is null ? _silences : provider.Silences;

    /// <summary>Commands that keep a connection busy: one arriving, plus as many as fit into a round trip.</summary>
    /// <param name="each">Seconds per reply; 0 if unknown.</param>
    /// <param name="unmeasured">The result if anything is unknown.</param>
    /// <param name="ceiling">Upper bound of the result.</param>
    public int RepliesInARoundTrip(double each, int unmeasured, int ceiling) => each > 0 && RoundTrip is var roundTrip and > 0
        ? (int)Math.Clamp(1 + Math.Ceiling(roundTrip / each), 1, ceiling)
        : Math.Min(unmeasured, ceiling);

    /// <summary>Seconds until a connection has delivered this many bytes; 0 if the rate is unknown.</summary>
    public double TimeFor(long bytes) => BytesPerSecond is var rate and > 0 ? bytes / rate : 0;

    // Limits one sample, because a single stalled article says little about the next.
    private static double Within(double sample, double known)
    {
        const double MostGrowth = 4;
        return Math.Max(known > 0 ? Math.Min(sample, known * MostGrowth) : sample, Shortest);
    }

    private static void Observe(ref double value, double sample)
    {
        var known = Volatile.Read(ref value);
        Volatile.Write(ref value, known <= 0 ? sample : known + (NewSampleWeight * (sample - known)));
    }
}

/// <remarks>Thread-safe. Each read loop writes one word to the next slot. A concurrent reader sees either the old or the new round trip.</remarks>
internal sealed class RecentRoundTrips
{
    // Odd, so that the median is one sample; small, so that the median follows a changed line after a few articles.
    private const int Kept = 15;

    private readonly long[] _ticks = new long[Kept];
    private int _count;

    public TimeSpan? Median
    {
        get
        {
            Span<long> sorted = stackalloc long[Kept];
            sorted = sorted[..(int)Math.Min((uint)Volatile.Read(ref _count), Kept)];
            for (var i = 0; i < sorted.Length; i++)
                sorted[i] = Volatile.Read(ref _ticks[i]);
            sorted.Sort();
            return sorted.IsEmpty ? null : TimeSpan.FromTicks(sorted[sorted.Length / 2]);
        }
    }

    public void Add(TimeSpan waited) =>
        Volatile.Write(ref _ticks[(uint)(Interlocked.Increment(ref _count) - 1) % Kept], waited.Ticks);
}

/// <summary>Recent silences within replies of one provider. They show how long a usual silence lasts, and whether any connection receives data.</summary>
/// <remarks>Thread-safe. Bounded: a new sample replaces the oldest.</remarks>
internal sealed class UsualSilence
{
    private const int Kept = 256;

    // Fewer samples say nothing about the 95th percentile.
    private const int FewestTelling = 20;

    // Recomputed only every few samples, because the usual silence changes slowly.
    private const int ObservedBetween = 8;

    private readonly Lock _gate = new();
    private long[]? _ticks;
    private int _count;
    private int _next;
    private long _p95 = -1;
    private long _heardAt;

    /// <summary>95th percentile of the longest silence within an article; null until there are enough samples.</summary>
    public TimeSpan? P95 => Volatile.Read(ref _p95) is var ticks and >= 0 ? TimeSpan.FromTicks(ticks) : null;

    /// <summary>When any connection last received data, in ticks of the time provider.</summary>
    public long HeardAt => Volatile.Read(ref _heardAt);

    public void Heard(long now)
    {
        // The given time may lie before data that another connection has received, because a stream reports its silence afterwards.
        if (now > HeardAt)
            Volatile.Write(ref _heardAt, now);
    }

    /// <summary>Adds the longest silence within an article that ended or was canceled.</summary>
    public void Observe(TimeSpan silence)
    {
        lock (_gate)
        {
            _ticks ??= new long[Kept];
            _ticks[_next] = silence.Ticks;
            _next = (_next + 1) % Kept;
            _count = Math.Min(_count + 1, Kept);
            if (_count == FewestTelling || (_count > FewestTelling && _next % ObservedBetween == 0))
                Volatile.Write(ref _p95, FindP95());
        }
    }

    private long FindP95()
    {
        Span<long> sorted = stackalloc long[Kept];
        sorted = sorted[.._count];
        _ticks.AsSpan(0, _count).CopyTo(sorted);
        sorted.Sort();
        return sorted[(_count - 1) * 95 / 100];
    }
}
