namespace Sluice.Usenet.Nntp.Connections;

/// <summary>
/// What a connection has shown, or all connections of a provider together: round trip, rate, time of one article, length of a
/// handshake. The figures decide how deep to pipeline and whether waiting beats dialling.
/// </summary>
/// <param name="time">Clock.</param>
/// <param name="provider">For the estimate of a connection: learns the same, and answers as long as this one knows nothing. Else null.</param>
/// <remarks>
/// Thread-safe: every field is written by whichever read loop has news and read by the scheduler; each is one word and a
/// lost update costs nothing but a sample.
/// </remarks>
internal sealed class LineEstimate(TimeProvider time, LineEstimate? provider = null)
{
    private const double NewSampleWeight = 0.2;

    // A reply that arrives in one piece takes no time that a clock could tell.
    private const double Shortest = 1e-6;

    private readonly UsualSilence _silences = new();
    private readonly RecentRoundTrips? _recent = provider is null ? new RecentRoundTrips() : null;
    private double _roundTrip;
    private double _bytesPerSecond;
    private double _handshake;
    private double _transfer;
    private double _answer;

    /// <summary>Seconds from a command to the first byte of its reply; 0 while unknown.</summary>
    public double RoundTrip => Volatile.Read(ref _roundTrip) is var known and > 0 ? known : provider?.RoundTrip ?? 0;

    /// <summary>The median of what commands to the provider have waited for the first byte of their replies of late; null before the first.</summary>
    public TimeSpan? Latency => provider is null ? _recent!.Median : provider.Latency;

    /// <summary>Bytes per second of one connection while a body comes in; 0 while unknown.</summary>
    public double BytesPerSecond => Volatile.Read(ref _bytesPerSecond) is var known and > 0 ? known : provider?.BytesPerSecond ?? 0;

    /// <summary>Seconds that a body takes from its first byte to its last, at the size that bodies have here; 0 while unknown.</summary>
    public double Transfer => Volatile.Read(ref _transfer) is var known and > 0 ? known : provider?.Transfer ?? 0;

    /// <summary>Seconds between answers of one line; 0 while unknown.</summary>
    public double Answer => Volatile.Read(ref _answer) is var known and > 0 ? known : provider?.Answer ?? 0;

    /// <summary>Seconds that a new connection takes to be ready; a guess of four round trips of 50 ms while unknown.</summary>
    public double Handshake => provider?.Handshake ?? (Volatile.Read(ref _handshake) is var known and > 0 ? known : 0.2);

    public void ObserveRoundTrip(long from)
    {
        var waited = time.GetElapsedTime(from);
        Observe(ref _roundTrip, waited.TotalSeconds);
        _recent?.Add(waited);
        provider?.ObserveRoundTrip(from);
    }

    public void ObserveHandshake(long from) => Observe(ref _handshake, time.GetElapsedTime(from).TotalSeconds);

    /// <summary>Notes a whole body. Small ones say more about the round trip than about the rate.</summary>
    public void ObserveTransfer(long bytes, long from)
    {
        const int SmallestTelling = 32 * 1024;
        var seconds = time.GetElapsedTime(from).TotalSeconds;
        Observe(ref _transfer, Within(seconds, Volatile.Read(ref _transfer)));
        if (bytes >= SmallestTelling && seconds > 0)
            Observe(ref _bytesPerSecond, bytes / seconds);
        provider?.ObserveTransfer(bytes, from);
    }

    /// <summary>Notes answers of one line each that came in a row; a few of them say nothing about their pace.</summary>
    /// <param name="answers">How many.</param>
    /// <param name="from">When the first of them came.</param>
    public void ObserveAnswers(int answers, long from)
    {
        const int FewestTelling = 8;
        if (answers < FewestTelling)
            return;
        Observe(ref _answer, Math.Max(time.GetElapsedTime(from).TotalSeconds / (answers - 1), Shortest));
        provider?.ObserveAnswers(answers, from);
    }

    /// <summary>How long connections of the provider are silent; one and the same for all of them.</summary>
    public UsualSilence Silences => provider is null ? _silences : provider.Silences;

    /// <summary>Commands that keep a connection busy: one under way, and as many as fit into a round trip.</summary>
    /// <param name="each">Seconds that a reply takes; 0 while unknown.</param>
    /// <param name="unmeasured">The answer while anything is unknown.</param>
    /// <param name="ceiling">Never more than this.</param>
    public int RepliesInARoundTrip(double each, int unmeasured, int ceiling) => each > 0 && RoundTrip is var roundTrip and > 0
        ? (int)Math.Clamp(1 + Math.Ceiling(roundTrip / each), 1, ceiling)
        : Math.Min(unmeasured, ceiling);

    /// <summary>Seconds until a connection that owes this many bytes has delivered them.</summary>
    public double TimeFor(long bytes) => BytesPerSecond is var rate and > 0 ? bytes / rate : 0;

    // One article that stalled says little about the next.
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

/// <summary>The last few round trips of one provider.</summary>
/// <remarks>
/// Thread-safe: each read loop writes the next place, one word, and a reader looks at all of them; a place that is read while it is
/// written is a round trip of either time.
/// </remarks>
internal sealed class RecentRoundTrips
{
    // Odd, so that one of them is the middle; few, so that a line that has changed shows within some articles.
    private const int Kept = 15;

    private readonly long[] _ticks = new long[Kept];
    private int _count;

    /// <summary>The one in the middle; null while there is none.</summary>
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

    /// <summary>A reply has begun.</summary>
    public void Add(TimeSpan waited) =>
        Volatile.Write(ref _ticks[(uint)(Interlocked.Increment(ref _count) - 1) % Kept], waited.Ticks);
}

/// <summary>
/// How long the connections of one provider are silent in the middle of replies, of late: enough to say what is unusually long, and
/// whether any of them is heard at all.
/// </summary>
/// <remarks>Thread-safe. Bounded: the oldest time makes room for a new one.</remarks>
internal sealed class UsualSilence
{
    private const int Kept = 256;

    // Fewer say nothing about one in twenty.
    private const int FewestTelling = 20;

    // What is usual does not change from one article to the next.
    private const int ObservedBetween = 8;

    private readonly Lock _gate = new();
    private long[]? _ticks;
    private int _count;
    private int _next;
    private long _p95 = -1;
    private long _heardAt;

    /// <summary>The longest silence of nineteen in twenty articles is shorter; null while too few are known.</summary>
    public TimeSpan? P95 => Volatile.Read(ref _p95) is var ticks and >= 0 ? TimeSpan.FromTicks(ticks) : null;

    /// <summary>When any of the connections was heard last, in ticks of the time provider.</summary>
    public long HeardAt => Volatile.Read(ref _heardAt);

    /// <summary>A connection has been heard.</summary>
    public void Heard(long now) => Volatile.Write(ref _heardAt, now);

    /// <summary>An article has ended, or was given up: adds its longest silence.</summary>
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
