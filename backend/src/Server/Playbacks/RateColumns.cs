namespace Sluice.Server.Playbacks;

/// <summary>Traffic of an interval: bytes, and the maximum concurrent playbacks and connections.</summary>
internal readonly record struct Moved(long Received, long Sent, long Cached, int Streams, int Connections)
{
    public bool IsNothing => Received <= 0 && Sent <= 0 && Cached <= 0;

    public Moved With(Moved other) => new(
        Received + other.Received, Sent + other.Sent, Cached + other.Cached, Math.Max(Streams, other.Streams), Math.Max(Connections, other.Connections));
}

/// <summary>A window of a chart. The step between points divides a minute or is a multiple of one.</summary>
/// <param name="Word">The name of the window in a call.</param>
/// <param name="Seconds">The length of the window.</param>
internal sealed record RateWindow(string Word, int Seconds)
{
    /// <summary>Numbers of points that a call may request. A window of ten minutes has at most 300 points, of two seconds each.</summary>
    public static readonly int[] Points = [60, 360];

    public static readonly IReadOnlyList<RateWindow> All =
        [new("10m", 600), new("1h", 3_600), new("24h", 86_400), new("7d", 7 * 86_400), new("30d", 30 * 86_400)];

    /// <summary>Returns the seconds between two points.</summary>
    public int StepOf(int points) => (Seconds + points - 1) / points;
}

/// <summary>The points of a window, oldest first. The last one is still incomplete.</summary>
internal sealed class RateColumns
{
    private readonly Moved[] _points;
    private readonly long _now;

    public RateColumns(RateWindow window, int points, DateTimeOffset now)
    {
        Step = window.StepOf(points);
        _points = new Moved[window.Seconds / Step];
        _now = now.ToUnixTimeSeconds();
        Start = ((_now / Step) - _points.Length + 1) * Step;
    }

    /// <summary>Start of the first point in seconds since 1970, a multiple of the step.</summary>
    public long Start { get; }

    public int Step { get; }

    /// <summary>Adds the traffic of an interval. It is spread evenly over the points that the interval covers, and never into the future.</summary>
    public void Add(long from, int seconds, Moved moved)
    {
        seconds = (int)Math.Clamp(_now - from, 1, seconds);
        for (var at = from; at < from + seconds;)
        {
            var point = (at - Start) / Step;
            var end = at < Start ? Math.Min(from + seconds, Start) : Math.Min(from + seconds, Start + ((point + 1) * Step));
            if (at >= Start && point < _points.Length)
            {
                var part = (double)(end - at) / seconds;
                _points[point] = _points[point].With(moved with
                {
                    Received = (long)(moved.Received * part),
                    Sent = (long)(moved.Sent * part),
                    Cached = (long)(moved.Cached * part),
                });
            }

            at = end;
        }
    }

    /// <summary>Returns one rate per point in kB/s.</summary>
    public IReadOnlyList<long> Rates(Func<Moved, long> bytes) => [.. _points.Select((moved, i) => bytes(moved) / SecondsOf(i) / 1000)];

    public IReadOnlyList<int> Counts(Func<Moved, int> count) => [.. _points.Select(count)];

    private long SecondsOf(int point) => point < _points.Length - 1 ? Step : Math.Clamp(_now - Start - ((long)point * Step), 1, Step);
}
