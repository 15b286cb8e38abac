namespace Sluice.Usenet.Nntp;

/// <summary>What all fetches of one pool of providers share, and the fetches that can be used again.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class FetchParts(IReadOnlyList<Provider> providers, SharedResources shared) : IDisposable
{
    private const int Kept = 512;

    private readonly Lock _gate = new();
    private readonly Stack<HedgedFetch> _idle = new();

    /// <summary>All of the pool, by index.</summary>
    public IReadOnlyList<Provider> Providers => providers;

    public NntpOptions Options => shared.Options;

    public NntpMeter Meter => shared.Meter;

    public TimeProvider Time => shared.Time;

    public StragglerPolicy Policy { get; } = new(shared.Options);

    public HedgeBudget Budget { get; } = new();

    public StragglerWatch Watch { get; } = new(shared.Time);

    /// <summary>A fetch that is not under way; it comes back by itself.</summary>
    public HedgedFetch Rent()
    {
        lock (_gate)
        {
            if (_idle.TryPop(out var fetch))
                return fetch;
        }

        return new HedgedFetch(this);
    }

    public void Recycle(HedgedFetch fetch)
    {
        lock (_gate)
        {
            if (_idle.Count < Kept)
                _idle.Push(fetch);
        }
    }

    public void Dispose() => Watch.Dispose();
}
