namespace Sluice.Usenet.Nntp;

/// <summary>What all fetches of one pool of providers share, and the fetches that can be used again.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class FetchParts(IReadOnlyList<Provider> providers, SharedResources shared, ReleaseOrder releases)
{
    private const int Kept = 512;

    private readonly Lock _gate = new();
    private readonly Stack<HedgedFetch> _idle = new();
    private readonly Guid[] _ids = [.. providers.Select(provider => provider.Options.Id)];

    /// <summary>All of the pool, by index.</summary>
    public IReadOnlyList<Provider> Providers => providers;

    public NntpOptions Options => shared.Options;

    public NntpMeter Meter => shared.Meter;

    public TimeProvider Time => shared.Time;

    public HedgeBudget Budget { get; } = new();

    /// <summary>Who is asked next on a walk; null when there is none left.</summary>
    public Provider? Next(in ArticleRequest request, in ProviderWalk walk) =>
        ProviderSelector.Next(providers, walk.Asked, walk.MissedBackbones, mayProbe: request.Urgency?.IsHeadOfLine != true, releases.Behind(request.Release, _ids));

    /// <summary>Whether a provider has said of late that it does not have the article. A health check asks all the same.</summary>
    public bool IsKnownMiss(in ArticleRequest request, Provider provider) =>
        request.Lane != OperationLane.HealthCheck && shared.Memory.IsMissing(provider.Pool.Id, request.Id);

    /// <summary>A provider has said that it does not have the article. Its pool remembers that, once it is proved; the order is no verdict.</summary>
    public void Missed(in ArticleRequest request, Provider provider) => releases.Answered(request.Release, provider.Options.Id, isMiss: true);

    /// <summary>A provider has delivered the article.</summary>
    public void Delivered(in ArticleRequest request, Provider provider, BreakerProbe? probe)
    {
        Budget.Fetched();
        provider.Delivered(request.Id, probe);
        releases.Answered(request.Release, provider.Options.Id, isMiss: false);
    }

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
}
