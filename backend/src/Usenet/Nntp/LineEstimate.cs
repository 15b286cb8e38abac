namespace Sluice.Usenet.Nntp;

/// <summary>
/// What the connections of one provider have shown: round trip, rate of one connection, length of a handshake. The figures
/// decide how deep to pipeline and whether waiting beats dialling.
/// </summary>
/// <remarks>
/// Thread-safe: every field is written by whichever read loop has news and read by the scheduler; each is one word and a
/// lost update costs nothing but a sample.
/// </remarks>
internal sealed class LineEstimate(TimeProvider time)
{
    private const double NewSampleWeight = 0.2;

    private double _roundTrip;
    private double _bytesPerSecond;
    private double _handshake;
    private double _answer;

    /// <summary>Seconds from a command to the first byte of its reply; 0 while unknown.</summary>
    public double RoundTrip => Volatile.Read(ref _roundTrip);

    /// <summary>Bytes per second of one connection while a body comes in; 0 while unknown.</summary>
    public double BytesPerSecond => Volatile.Read(ref _bytesPerSecond);

    /// <summary>Seconds that a new connection takes to be ready; a guess of four round trips of 50 ms while unknown.</summary>
    public double Handshake => Volatile.Read(ref _handshake) is var known and > 0 ? known : 0.2;

    /// <summary>STAT commands worth sending together: as many as are answered within a round trip.</summary>
    /// <param name="ceiling">Never more than this.</param>
    public int StatDepth(int ceiling)
    {
        // The sample that an import asks for.
        const int Unmeasured = 64;
        var (roundTrip, answer) = (RoundTrip, Volatile.Read(ref _answer));
        return roundTrip <= 0 || answer <= 0
            ? Math.Min(Unmeasured, ceiling)
            : (int)Math.Clamp(1 + Math.Ceiling(roundTrip / answer), 1, ceiling);
    }

    public void ObserveRoundTrip(long from) => Observe(ref _roundTrip, time.GetElapsedTime(from).TotalSeconds);

    public void ObserveHandshake(long from) => Observe(ref _handshake, time.GetElapsedTime(from).TotalSeconds);

    /// <summary>Notes a whole body. Small ones say more about the round trip than about the rate.</summary>
    public void ObserveTransfer(long bytes, long from)
    {
        const int SmallestTelling = 32 * 1024;
        var seconds = time.GetElapsedTime(from).TotalSeconds;
        if (bytes >= SmallestTelling && seconds > 0)
            Observe(ref _bytesPerSecond, bytes / seconds);
    }

    /// <summary>Notes answers of one line each that came in a row; a few of them say nothing about their pace.</summary>
    /// <param name="answers">How many.</param>
    /// <param name="from">When the first of them came.</param>
    public void ObserveAnswers(int answers, long from)
    {
        const int FewestTelling = 8;
        var seconds = time.GetElapsedTime(from).TotalSeconds;
        if (answers >= FewestTelling && seconds > 0)
            Observe(ref _answer, seconds / (answers - 1));
    }

    /// <summary>Commands that keep one connection busy: one under way, and as many as fit into a round trip.</summary>
    /// <param name="articleBytes">Size of a typical article.</param>
    /// <param name="ceiling">Never more than this.</param>
    public int Depth(long articleBytes, int ceiling)
    {
        const int Unmeasured = 2;
        var (roundTrip, rate) = (RoundTrip, BytesPerSecond);
        if (roundTrip <= 0 || rate <= 0)
            return Math.Min(Unmeasured, ceiling);

        var inOneRoundTrip = Math.Ceiling(roundTrip * rate / Math.Max(articleBytes, 1));
        return (int)Math.Clamp(1 + inOneRoundTrip, 1, ceiling);
    }

    /// <summary>Seconds until a connection that owes this many bytes has delivered them.</summary>
    public double TimeFor(long bytes) => BytesPerSecond is var rate and > 0 ? bytes / rate : 0;

    private static void Observe(ref double value, double sample)
    {
        var known = Volatile.Read(ref value);
        Volatile.Write(ref value, known <= 0 ? sample : known + (NewSampleWeight * (sample - known)));
    }
}
