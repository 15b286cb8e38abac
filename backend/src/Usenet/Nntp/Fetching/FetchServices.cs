using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>Services shared by all fetches of one provider pool. Thread-safe.</summary>
internal sealed record FetchServices(IReadOnlyList<Provider> Providers, SharedResources Shared, ReleaseOrder Releases)
{
    private readonly Guid[] _ids = [.. Providers.Select(provider => provider.Options.Id)];

    // The providers skipped by ArticleRequest.SparesBackups, because their traffic is reserved for viewers.
    private readonly ProviderSet _reserved = Providers
        .Where(static provider => provider.Options is { Kind: ProviderKind.BackupWithChecks or ProviderKind.BackupOnly } or { Quota: not null })
        .Aggregate(default(ProviderSet), static (set, provider) => set.With(provider.Index));

    public HedgeBudget Budget { get; } = new();

    public NntpOptions Options => Shared.Options;

    public NntpMeter Meter => Shared.Meter;

    public TimeProvider Time => Shared.Time;

    /// <summary>The providers that a request excludes from the start.</summary>
    public ProviderSet Outside(in ArticleRequest request) => request.SparesBackups ? request.Excluded.Or(_reserved) : request.Excluded;

    /// <summary>Returns the next provider not asked yet; null if none is left. <paramref name="walk"/> is null before the first reply.</summary>
    public Provider? Next(in ArticleRequest request, ProviderSet asked, ProviderWalk? walk) => ProviderSelector.Next(
        Providers, asked.Or(Withheld(request, walk)), walk?.MissedBackbones, mayProbe: request.Urgency?.IsHeadOfLine != true, Releases.Behind(request.Release, _ids));

    /// <summary>The provider for a hedge, as in <see cref="ProviderSelector.Rival"/>. Never an account in its reserve.</summary>
    public Provider? Rival(in ArticleRequest request, ProviderSet asked, ProviderWalk? walk, Provider late, bool isSent) =>
        ProviderSelector.Rival(Providers, asked.Or(Withheld(request, walk: null)), walk?.MissedBackbones, late, isSent);

    /// <summary>The failure for which a provider is skipped while another provider responds; null if it is asked.</summary>
    public NntpException? MustSpare(in ArticleRequest request, Provider provider) =>
        provider.Pool.Health.Bodies.Failure is null ? null : ProviderSelector.MustSpare(Providers, provider, Withheld(request, walk: null));

    /// <summary>Whether an enabled provider was not asked because of a data cap, although it may have the article.</summary>
    public bool LeavesAny(ProviderSet asked, ProviderWalk walk)
    {
        foreach (var provider in Providers)
        {
            if (provider.Options.Kind != ProviderKind.Disabled && !asked.Contains(provider.Index) && !walk.HasMissed(provider))
                return true;
        }

        return false;
    }

    /// <summary>Whether a provider recently reported the article missing. Health checks ask that provider anyway.</summary>
    public bool IsKnownMiss(in ArticleRequest request, Provider provider) =>
        request.Lane != OperationLane.HealthCheck && Shared.Memory.IsMissing(provider.Pool.Id, request.Id);

    /// <summary>Records a miss in the release order. It may be unconfirmed, because it only affects the order. The pool remembers confirmed misses.</summary>
    public void Missed(in ArticleRequest request, Provider provider) => Releases.Answered(request.Release, provider.Options.Id, isMiss: true);

    private ProviderSet Withheld(in ArticleRequest request, ProviderWalk? walk) => ProviderSelector.Withheld(Providers, request, Outside(request), walk);

    public void Delivered(in ArticleRequest request, Provider provider, BreakerProbe? probe)
    {
        Budget.Fetched();
        provider.Delivered(request.Id, probe);
        Releases.Answered(request.Release, provider.Options.Id, isMiss: false);
    }
}
