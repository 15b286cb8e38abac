namespace Sluice.Usenet.Benchmarks;

/// <summary>Something to time, and what it has cost so far.</summary>
/// <param name="table">Samples of one table are compared with each other.</param>
/// <param name="name">Its row.</param>
/// <param name="units">What one run works off: bytes, or calls.</param>
/// <param name="prime">Brings the input as near as it was for every other sample of the table; not timed.</param>
/// <param name="run">One run, some tenths of a millisecond long.</param>
internal sealed class Sample(string table, string name, double units, Action prime, Action run)
{
    private readonly List<double> _seconds = [];

    public string Table => table;

    public string Name => name;

    /// <summary>Units a second, by the median run.</summary>
    public double Rate => units / Median();

    public void Warm() => run();

    public void Take()
    {
        prime();
        var before = ThreadClock.Now();
        run();
        _seconds.Add(ThreadClock.Now() - before);
    }

    private double Median()
    {
        _seconds.Sort();
        return _seconds[_seconds.Count / 2];
    }
}
