using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>The configured providers, as shown by the API.</summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the last counts; no other lock is acquired while holding it. Rates are computed between two calls, so nothing runs in the
/// background.
/// </remarks>
internal sealed class ProviderTable(ProviderHost providers, ProviderUsage usage, ProviderQuotas quotas, TimeProvider time)
{
    // Calls within this interval share one rate, because several browsers may poll.
    private static readonly TimeSpan ShortestInterval = TimeSpan.FromSeconds(1);

    // The rate that says how long a data cap lasts: recent enough to follow a habit, long enough to contain two weekends.
    private const int DaysOfRate = 14;

    private const int MostDaysAhead = 3_650;

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, ByteCount> _counts = [];

    /// <summary>Returns all providers in order of use.</summary>
    public IReadOnlyList<ProviderRow> Rows()
    {
        var (states, uses, kept) = (providers.Providers, providers.Uses, usage.TotalsById());
        return
        [
            .. states
                .OrderBy(state => state.Options.Kind == ProviderKind.Disabled)
                .ThenBy(state => state.Options.Kind)
                .ThenBy(state => state.Options.Priority)
                .Select(state => Row(state, Speed(state.Options.Id, uses.GetValueOrDefault(state.Options.Id).Bytes), kept.GetValueOrDefault(state.Options.Id))),
        ];
    }

    public ProviderRow? Find(Guid id) => Rows().FirstOrDefault(row => row.Id == id.ToString());

    private ProviderRow Row(ProviderState state, long speed, (ProviderUse Total, ProviderUse Today) use)
    {
        var (options, status) = (state.Options, state.Status);
        var isUsed = options.Kind != ProviderKind.Disabled;
        var fault = isUsed ? state.Fault : null;
        return new ProviderRow(
            options.Id.ToString(),
            options.Name,
            options.Host,
            options.Port,
            options.UseTls,
            options.SkipTlsVerification,
            options.User ?? "",
            options.Password is not null,
            isUsed ? options.Kind == ProviderKind.Pooled ? ProviderUseKind.Primary : ProviderUseKind.Backup : ProviderUseKind.Disabled,
            options.Priority,
            options.Backbone,
            state.Condition,
            fault is { } broken ? ProviderSentences.Of(broken, options, status?.Detail) : null,
            new ProviderConnections(status?.Changing ?? 0, status?.Idle ?? 0, status?.Busy ?? 0, options.MaxConnections, status?.Cap),
            speed,
            use.Today.Bytes,
            use.Total.Bytes,
            Lanes(use.Today.Lanes),
            Lanes(use.Total.Lanes),
            use.Total.Tried > 0 ? 100.0 * (use.Total.Tried - use.Total.Found) / use.Total.Tried : null,
            status?.Latency?.TotalMilliseconds,
            options.Quota is { } quota && quotas.Find(state.Account) is { } quotaUse ? Quota(quota, quotaUse, state.Account) : null);
    }

    private ProviderQuota Quota(DataQuota quota, QuotaUse use, Guid account)
    {
        var today = time.LocalDay();
        var days = usage.Days([account]);
        var lanes = days.Where(day => day.Day >= use.Period).Aggregate(default(LaneBytes), static (sum, day) => sum + day.Use.Lanes);
        var known = lanes.Total - lanes.Other;
        var rateDays = days.Count > 0 ? Math.Clamp(today.DayNumber - days[0].Day.DayNumber + 1, 1, DaysOfRate) : 1;
        var perDay = days.Where(day => day.Day > today.AddDays(-rateDays)).Sum(static day => day.Use.Bytes) / rateDays;
        var lasts = perDay > 0 ? use.Left / perDay : long.MaxValue;
        var until = lasts < MostDaysAhead ? today.AddDays((int)lasts) : (DateOnly?)null;
        return new ProviderQuota(
            quota.ByteLimit,
            quota.ResetDay,
            quota.ReservePercent,
            use.State,
            use.Limit,
            Math.Max(0, use.Used),
            use.Left,

            // The rest was used before, or by logins and tests.
            Lanes(lanes with { Other = Math.Max(0, use.Used - known) }),
            perDay,
            until >= use.NextReset ? null : until,
            use.NextReset,
            use.NextReset?.DayNumber - today.DayNumber);
    }

    private static ProviderLanes Lanes(LaneBytes bytes) => new(bytes.Playback + bytes.Undecided, bytes.Scans, bytes.Import, bytes.Checks, bytes.Other);

    private long Speed(Guid provider, long bytes)
    {
        lock (_gate)
        {
            var now = time.GetTimestamp();
            if (!_counts.TryGetValue(provider, out var last))
            {
                _counts[provider] = new ByteCount(now, bytes, 0);
                return 0;
            }

            var since = time.GetElapsedTime(last.At, now);
            if (since < ShortestInterval)
                return last.Speed;
            var speed = (long)((bytes - last.Bytes) / since.TotalSeconds);
            _counts[provider] = new ByteCount(now, bytes, speed);
            return speed;
        }
    }

    private readonly record struct ByteCount(long At, long Bytes, long Speed);
}
