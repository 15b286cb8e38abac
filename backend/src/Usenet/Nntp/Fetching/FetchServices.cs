using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>Services shared by all fetches of one provider pool. Thread-safe.</summary>
internal sealed record FetchServices(IReadOnlyList<Provider> Providers, SharedResources Shared, ReleaseOrder Releases)
{
    private readonly Guid[] _ids = [.. Providers.Select(provider => provider.Options.Id)];

    /// <summary>The providers skipped by <see cref="ArticleRequest.SparesBackups"/>.</summary>
    public ProviderSet Backups { get; } = Providers
        .Where(static provider => provider.Options.Kind is ProviderKind.BackupWithChecks or ProviderKind.BackupOnly)
        .Aggregate(default(ProviderSet), static (set, provider) => set.With(provider.Index));

    public HedgeBudget Budget { get; } = new();

    public NntpOptions Options => Shared.Options;

    public NntpMeter Meter => Shared.Meter;

    public TimeProvider Time => Shared.Time;

    /// <summary>Returns the next provider not asked yet; null if none is left. <paramref name="walk"/> is null before the first reply.</summary>
    public Provider? Next(in ArticleRequest request, ProviderSet asked, ProviderWalk? walk) => ProviderSelector.Next(
        Providers, asked, walk?.MissedBackbones, mayProbe: request.Urgency?.IsHeadOfLine != true, Releases.Behind(request.Release, _ids));

    /// <summary>Whether a provider recently reported the article missing. Health checks ask that provider anyway.</summary>
    public bool IsKnownMiss(in ArticleRequest request, Provider provider) =>
        request.Lane != OperationLane.HealthCheck && Shared.Memory.IsMissing(provider.Pool.Id, request.Id);

    /// <summary>Records a miss in the release order. It may be unconfirmed, because it only affects the order. The pool remembers confirmed misses.</summary>
    public void Missed(in ArticleRequest request, Provider provider) => Releases.Answered(request.Release, provider.Options.Id, isMiss: true);

    public void Delivered(in ArticleRequest request, Provider provider, BreakerProbe? probe)
    {
        Budget.Fetched();
        provider.Delivered(request.Id, probe);
        Releases.Answered(request.Release, provider.Options.Id, isMiss: false);
    }
}
