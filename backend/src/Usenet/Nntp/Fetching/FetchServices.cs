using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>What all fetches of one pool of providers share.</summary>
/// <param name="Providers">All of the pool, by index.</param>
/// <param name="Shared">Options, clock, counts, and what has been learned about the providers.</param>
/// <param name="Releases">Which providers lack much of which release.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed record FetchServices(IReadOnlyList<Provider> Providers, SharedResources Shared, ReleaseOrder Releases)
{
    private readonly Guid[] _ids = [.. Providers.Select(provider => provider.Options.Id)];

    /// <summary>The providers that <see cref="ArticleRequest.SparesBackups"/> leaves out.</summary>
    public ProviderSet Backups { get; } = Providers
        .Where(static provider => provider.Options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly)
        .Aggregate(default(ProviderSet), static (set, provider) => set.With(provider.Index));

    public HedgeBudget Budget { get; } = new();

    public NntpOptions Options => Shared.Options;

    public NntpMeter Meter => Shared.Meter;

    public TimeProvider Time => Shared.Time;

    /// <summary>The provider that is asked next on a walk; null when there is none left.</summary>
    /// <param name="request">What is asked for.</param>
    /// <param name="asked">Providers that will not be asked (again).</param>
    /// <param name="walk">What those have answered; null while none has.</param>
    public Provider? Next(in ArticleRequest request, ProviderSet asked, ProviderWalk? walk) => ProviderSelector.Next(
        Providers, asked, walk?.MissedBackbones, mayProbe: request.Urgency?.IsHeadOfLine != true, Releases.Behind(request.Release, _ids));

    /// <summary>Whether a provider has said of late that it does not have the article. A health check asks all the same.</summary>
    public bool IsKnownMiss(in ArticleRequest request, Provider provider) =>
        request.Lane != OperationLane.HealthCheck && Shared.Memory.IsMissing(provider.Pool.Id, request.Id);

    /// <summary>A provider has said that it does not have the article. Its pool remembers that, once it is proved; the order is no verdict.</summary>
    public void Missed(in ArticleRequest request, Provider provider) => Releases.Answered(request.Release, provider.Options.Id, isMiss: true);

    /// <summary>A provider has delivered the article.</summary>
    public void Delivered(in ArticleRequest request, Provider provider, BreakerProbe? probe)
    {
        Budget.Fetched();
        provider.Delivered(request.Id, probe);
        Releases.Answered(request.Release, provider.Options.Id, isMiss: false);
    }
}
