using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>A stored count of a data cap. <see cref="Recent"/> estimates the bytes lost by a kill.</summary>
/// <param name="Warned">The highest warning of the period, in percent of the cap.</param>
/// <param name="Origin">The settings from which the count began.</param>
internal sealed record StoredQuota(Guid Account, DateOnly Period, long Used, long Refilled, long Recent, int Warned, QuotaOrigin Origin);

/// <summary>The settings that decide where a count begins. If they change, the bytes of the period are counted again.</summary>
/// <param name="UsedBeforeAt">Unix milliseconds; 0 if unknown.</param>
internal readonly record struct QuotaOrigin(int ResetDay, long UsedBefore, long UsedBeforeAt)
{
    public static QuotaOrigin Of(DataQuota quota) => new(quota.ResetDay, quota.UsedBefore, quota.UsedBeforeAt?.ToUnixTimeMilliseconds() ?? 0);
}

/// <summary>Reads and writes <c>provider_quota</c>.</summary>
internal sealed class ProviderQuotaStore(SluiceDatabase database)
{
    /// <summary>Loads all counts. Skips malformed rows, because they must not hide the others.</summary>
    public Task<IReadOnlyList<StoredQuota>> LoadAsync(CancellationToken cancellationToken) => database.ReadAsync(
        connection => (IReadOnlyList<StoredQuota>)
        [
            .. connection.Query<QuotaRow>(
                """
                SELECT provider AS Provider, period AS Period, used AS Used, refilled AS Refilled, recent AS Recent, warned AS Warned,
                  reset_day AS ResetDay, used_before AS UsedBefore, used_before_at AS UsedBeforeAt
                FROM provider_quota
                """).Select(static row => row.Read()).OfType<StoredQuota>(),
        ],
        cancellationToken);

    /// <summary>Writes changed counts and deletes dropped ones, in one transaction.</summary>
    public Task SaveAsync(IReadOnlyCollection<StoredQuota> changed, IReadOnlyCollection<Guid> dropped, CancellationToken cancellationToken) => database.WriteAsync(
        connection =>
        {
            connection.Execute("DELETE FROM provider_quota WHERE provider = @provider", dropped.Select(static account => new { provider = account.ToString() }));
            return connection.Execute(
                """
                INSERT INTO provider_quota (provider, period, used, refilled, recent, warned, reset_day, used_before, used_before_at)
                VALUES (@Provider, @Period, @Used, @Refilled, @Recent, @Warned, @ResetDay, @UsedBefore, @UsedBeforeAt)
                ON CONFLICT (provider) DO UPDATE SET period = excluded.period, used = excluded.used, refilled = excluded.refilled, recent = excluded.recent,
                  warned = excluded.warned, reset_day = excluded.reset_day, used_before = excluded.used_before, used_before_at = excluded.used_before_at
                """,
                changed.Select(QuotaRow.Of));
        },
        cancellationToken);

    internal sealed record QuotaRow(
        string Provider, string Period, long Used, long Refilled, long Recent, long Warned, long ResetDay, long UsedBefore, long UsedBeforeAt)
    {
        public static QuotaRow Of(StoredQuota quota) => new(
            quota.Account.ToString(), ProviderUsage.Write(quota.Period), quota.Used, quota.Refilled, quota.Recent, quota.Warned,
            quota.Origin.ResetDay, quota.Origin.UsedBefore, quota.Origin.UsedBeforeAt);

        public StoredQuota? Read() =>
            Guid.TryParse(Provider, out var account) && ProviderUsage.ReadDay(Period) is { } period
                ? new StoredQuota(
                    account, period, Used, Math.Max(0, Refilled), Math.Max(0, Recent), (int)Math.Clamp(Warned, 0, 100), new QuotaOrigin((int)Math.Clamp(ResetDay, 0, DataQuota.LastResetDay), UsedBefore, UsedBeforeAt))
                : null;
    }
}
