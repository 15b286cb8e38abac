using System.Globalization;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>Metrics of providers, connections and the segments that they deliver (ADM-40, OPS-31). Read when they are requested.</summary>
/// <remarks>Thread-safe. Removed providers are absent, because they have no nickname any more.</remarks>
internal sealed class ProviderMetrics(ProviderHost host, ProviderQuotas quotas)
{
    private static readonly (OperationLane Lane, string Name)[] Lanes =
        [(OperationLane.Playback, "playback"), (OperationLane.Import, "import"), (OperationLane.HealthCheck, "checks")];

    public ValueTask WriteAsync(MetricsWriter to, CancellationToken cancellationToken)
    {
        var providers = host.Providers;
        var named = NamesOf(providers).Zip(providers).ToArray();
        WriteTraffic(to, named);
        WriteQuotas(to, named);
        WriteConnections(to, named);
        WriteFetching(to);
        return ValueTask.CompletedTask;
    }

    /// <summary>Returns the nicknames, made unique by a number, because two series must not have the same labels.</summary>
    public static IReadOnlyList<string> NamesOf(IReadOnlyList<ProviderState> providers)
    {
        var names = new List<string>();
        foreach (var provider in providers)
        {
            var name = provider.Options.Name;
            for (var number = 2; names.Contains(name); number++)
                name = string.Create(CultureInfo.InvariantCulture, $"{provider.Options.Name} {number}");
            names.Add(name);
        }

        return names;
    }

    private void WriteTraffic(MetricsWriter to, (string Name, ProviderState State)[] providers)
    {
        var uses = host.Uses;
        to.Counter("sluice_provider_bytes_total", "Bytes received from the provider, without the overhead of TLS.");
        foreach (var (name, state) in providers)
            to.Sample(uses.GetValueOrDefault(state.Options.Id).Bytes, ("provider", name));
        to.Counter("sluice_lane_bytes_total", "Bytes received from the provider by purpose. The bytes of a reader appear once it is known whether it plays or scans.");
        foreach (var (name, state) in providers)
        {
            var lanes = uses.GetValueOrDefault(state.Options.Id).Lanes;
            to.Sample(lanes.Playback, ("provider", name), ("lane", "playback"));
            to.Sample(lanes.Scans, ("provider", name), ("lane", "scans"));
            to.Sample(lanes.Import, ("provider", name), ("lane", "import"));
            to.Sample(lanes.Checks, ("provider", name), ("lane", "checks"));
            to.Sample(lanes.Other, ("provider", name), ("lane", "other"));
        }

        to.Counter("sluice_provider_articles_total", "Articles that the provider was asked for and answered for.");
        foreach (var (name, state) in providers)
        {
            var use = uses.GetValueOrDefault(state.Options.Id);
            to.Sample(use.Found, ("provider", name), ("result", "found"));
            to.Sample(use.Tried - use.Found, ("provider", name), ("result", "missing"));
        }

        var times = host.FirstBytes;
        to.Histogram("sluice_provider_time_to_first_byte_seconds", "Time from the command for an article to its first line, if nothing else was outstanding.");
        foreach (var (name, state) in providers)
        {
            if (times.TryGetValue(state.Options.Id, out var histogram))
                to.Sample(histogram, ("provider", name));
        }
    }

    private void WriteQuotas(MetricsWriter to, (string Name, ProviderState State)[] providers)
    {
        to.Gauge("sluice_provider_quota_bytes", "Data cap of the provider with its refills, and what was used of it in this period. Absent without a cap.");
        foreach (var (name, state) in providers)
        {
            if (state.Options.Quota is null || quotas.Find(state.Account) is not { } use)
                continue;
            to.Sample(use.Limit, ("provider", name), ("kind", "limit"));
            to.Sample(use.Used, ("provider", name), ("kind", "used"));
        }
    }

    private static void WriteConnections(MetricsWriter to, (string Name, ProviderState State)[] providers)
    {
        to.Gauge("sluice_provider_connections", "Connections to the provider.");
        foreach (var (name, state) in providers)
        {
            to.Sample(state.Status?.Changing ?? 0, ("provider", name), ("state", "changing"));
            to.Sample(state.Status?.Idle ?? 0, ("provider", name), ("state", "idle"));
            to.Sample(state.Status?.Busy ?? 0, ("provider", name), ("state", "busy"));
        }

        to.Gauge("sluice_provider_connection_limit", "Connections that the settings allow, and that the provider was found to allow.");
        foreach (var (name, state) in providers)
        {
            to.Sample(state.Options.MaxConnections, ("provider", name), ("kind", "configured"));
            to.Sample(state.Status?.Cap ?? state.Options.MaxConnections, ("provider", name), ("kind", "allowed"));
        }

        to.Gauge("sluice_provider_breaker_open", "1 if the provider is enabled and not used, because it fails.");
        foreach (var (name, state) in providers)
            to.Sample(state.Condition is ProviderCondition.Resting or ProviderCondition.Refused ? 1 : 0, ("provider", name));
    }

    private void WriteFetching(MetricsWriter to)
    {
        to.Gauge("sluice_limiter_permits", "Connections in use by a lane, and how many it may use now.");
        foreach (var (lane, name) in Lanes)
        {
            to.Sample(host.InUse(lane), ("lane", name), ("kind", "used"));
            to.Sample(host.Effective(lane), ("lane", name), ("kind", "allowed"));
        }

        to.Gauge("sluice_effective_streaming_permits", "Connections that playback may use now.");
        to.Sample(host.Effective(OperationLane.Playback));
        var totals = host.FetchTotals;
        to.Histogram("sluice_limiter_wait_seconds", "How long requests for articles waited because no connection was free.");
        to.Sample(totals.Waits);
        to.Counter("sluice_hedges_total", "Late articles that were requested a second time, and second requests that delivered first.");
        to.Sample(totals.Hedges, ("result", "sent"));
        to.Sample(totals.HedgesWon, ("result", "won"));
        var served = host.Served;
        to.Counter("sluice_cache_hits_total", "Segments served to readers from memory, from disk, or from no cache but a provider.");
        to.Sample(served.Memory, ("cache", "memory"));
        to.Sample(served.Disk, ("cache", "disk"));
        to.Sample(served.Fetched, ("cache", "none"));
        to.Gauge("sluice_byte_budget_bytes", "Memory for segments: held ahead of readers, kept for the next reader, and the limit for readers.");
        to.Sample(host.HeldBytes, ("kind", "held"));
        to.Sample(host.Engine.CachedBytes, ("kind", "cached"));
        to.Sample(host.ByteBudget, ("kind", "limit"));
    }
}
