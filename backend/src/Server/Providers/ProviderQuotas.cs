using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Providers;

/// <summary>The use of a data cap in its current period, in bytes.</summary>
/// <param name="Limit">The cap, with all refills of the period.</param>
/// <param name="NextReset">Local day of the next reset; null for a block.</param>
internal sealed record QuotaUse(long Limit, long Used, QuotaState State, DateOnly Period, DateOnly? NextReset)
{
    public long Left => Math.Max(0, Limit - Used);

    /// <summary>The warning that this use deserves, in percent; 0 for none. A cap is never reached to the byte, so 100 means that no article fits.</summary>
    public int Warning => State == QuotaState.Spent ? 100 : Used >= Limit / 100 * 95 ? 95 : Used >= Limit / 100 * 80 ? 80 : 0;
}

/// <summary>
/// Counts the bytes used by accounts with a data cap in their period (HLT-100 to HLT-106). The engine adds received bytes itself; this class starts counts,
/// resets them at local midnight, stores them and warns.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the counts. While holding it, only the locks of <see cref="ProviderUsage"/> and of the connection pools are acquired.
/// Waiting fetches are notified after its release.
/// </remarks>
internal sealed class ProviderQuotas(
    ProviderHost providers,
    ProviderUsage usage,
    ProviderQuotaStore store,
    SluiceDatabase database,
    IOptionsMonitor<UsenetOptions> usenet,
    TimeProvider time,
    ILogger<ProviderQuotas> logger)
    : IWorker, IDisposable
{
    // A kill loses the bytes since the last save (HLT-101).
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();
    private readonly Dictionary<Guid, Count> _counts = [];
    private readonly HashSet<Guid> _dropped = [];

    // Allows only one save at a time, so that an older count never overwrites a newer one.
    private readonly SemaphoreSlim _saving = new(1);
    private IDisposable? _watch;
    private bool _isRestored;

    public string Name => "the data caps of providers";

    /// <summary>Returns the use of an account's data cap; null if it has none.</summary>
    /// <param name="account">As in <see cref="ProviderState.Account"/>.</param>
    public QuotaUse? Find(Guid account)
    {
        lock (_gate)
            return QuotaOf(account) is { } quota && _counts.TryGetValue(account, out var count) ? UseOf(quota, account, count) : null;
    }

    /// <summary>Sets the use of an account's data cap to zero, and drops its refills. Does nothing without a cap.</summary>
    public async Task ResetAsync(Guid account, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (!_counts.TryGetValue(account, out var count))
                return;
            providers.SetCharged(account, 0);
            (count.Refilled, count.Warned, count.Seen) = (0, 0, 0);
            if (QuotaOf(account) is { } quota)
                count.Period = quota.PeriodOf(time.LocalDay());
        }

        providers.OnQuotaChanged();
        await SaveAsync(isLast: false, cancellationToken);
    }

    /// <summary>Adds bytes to an account's data cap until the end of its period.</summary>
    /// <returns>False if the account has no cap, or if the refills would exceed <see cref="ProviderJson.MaxBytes"/>.</returns>
    public async Task<bool> RefillAsync(Guid account, long bytes, CancellationToken cancellationToken)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(bytes);
        lock (_gate)
        {
            if (!_counts.TryGetValue(account, out var count) || bytes > ProviderJson.MaxBytes - count.Refilled)
                return false;
            providers.AddCharged(account, -bytes);
            (count.Refilled, count.Seen) = (count.Refilled + bytes, count.Seen - bytes);
            if (QuotaOf(account) is { } quota)
                count.Warned = UseOf(quota, account, count).Warning;
        }

        providers.OnQuotaChanged();
        await SaveAsync(isLast: false, cancellationToken);
        return true;
    }

    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        // Safe mode must not use the database, so it counts only the bytes of this run.
        if (database.IsOpen)
        {
            foreach (var stored in await store.LoadAsync(cancellationToken))
            {
                lock (_gate)
                    Restore(stored);
            }
        }

        lock (_gate)
            _isRestored = true;
        _watch = usenet.OnChange(_ => Apply());
        Apply();
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        // The first round stores the estimate for a kill. Until then the row of the earlier run leads to the same count again.
        using var timer = new PeriodicTimer(CheckInterval, time);
        do
            await CheckAsync(stopping);
        while (await timer.WaitForNextTickAsync(stopping));
    }

    /// <summary>Runs one round: adopts changed settings, begins new periods, warns, and stores the counts.</summary>
    public async Task CheckAsync(CancellationToken cancellationToken)
    {
        Apply();
        if (database.IsOpen)
            await SaveAsync(isLast: false, cancellationToken);
    }

    public Task FinishAsync(CancellationToken cancellationToken) => database.IsOpen ? SaveAsync(isLast: true, cancellationToken) : Task.CompletedTask;

    public void Dispose()
    {
        _watch?.Dispose();
        _saving.Dispose();
    }

    /// <summary>Adopts changed settings, begins new periods, and warns.</summary>
    private void Apply()
    {
        var hasChanged = false;
        var warnings = new List<(string Name, QuotaUse Use)>();
        lock (_gate)
        {
            if (!_isRestored)
                return;
            var today = time.LocalDay();
            foreach (var (account, name, quota) in Capped())
            {
                if (!_counts.TryGetValue(account, out var count) || count.Origin != QuotaOrigin.Of(quota))
                {
                    _counts[account] = count = Begin(account, quota, today);
                    hasChanged = true;
                }
                else if (quota.PeriodOf(today) is var period && period > count.Period)
                {
                    // Bytes since the last check count for the new period, as in ProviderUsage. Setting the clock back changes nothing.
                    providers.AddCharged(account, -count.Seen);
                    (count.Period, count.Refilled, count.Warned) = (period, 0, 0);
                    hasChanged = true;
                }

                count.Seen = providers.Charged(account);
                var use = UseOf(quota, account, count);
                if (use.Warning <= count.Warned)
                    continue;
                count.Warned = use.Warning;
                warnings.Add((name, use));
            }

            DropUncapped();
        }

        if (hasChanged)
            providers.OnQuotaChanged();
        foreach (var (name, use) in warnings)
            Warn(name, use);
    }

    /// <summary>Starts a count from the settings and the recorded days. Call under the lock.</summary>
    private Count Begin(Guid account, DataQuota quota, DateOnly today)
    {
        var period = quota.PeriodOf(today);
        var entered = quota.UsedBeforeAt is { } at ? DateOnly.FromDateTime(TimeZoneInfo.ConvertTime(at, time.LocalTimeZone).DateTime) : (DateOnly?)null;
        var days = usage.Days([account]);
        var used = entered is null || entered >= period
            ? quota.UsedBefore + days.Where(day => day.Day >= period && !(day.Day <= entered)).Sum(static day => day.Use.Bytes)
            : days.Where(day => day.Day >= period).Sum(static day => day.Use.Bytes);
        providers.SetCharged(account, used);
        return new Count { Period = period, Origin = QuotaOrigin.Of(quota) };
    }

    /// <summary>Continues the count of an earlier run. Call under the lock.</summary>
    private void Restore(StoredQuota stored)
    {
        // Bytes received since startup are already counted, so the stored ones are added.
        providers.AddCharged(stored.Account, stored.Used + stored.Recent - stored.Refilled);
        _counts[stored.Account] = new Count
        {
            Period = stored.Period,
            Origin = stored.Origin,
            Refilled = stored.Refilled,
            Warned = stored.Warned,
            Seen = stored.Used + stored.Recent - stored.Refilled,
            Saved = stored,
            SavedUsed = stored.Used + stored.Recent,
        };
    }

    /// <summary>Forgets counts of accounts without a cap. Keeps counts of missing accounts, because the settings may only be unreadable.</summary>
    private void DropUncapped()
    {
        var uncapped = providers.Providers.Where(static state => state.Options.Quota is null).Select(static state => state.Account);
        foreach (var account in uncapped.Except(Capped().Select(static capped => capped.Account)))
        {
            if (_counts.Remove(account))
                _dropped.Add(account);
        }
    }

    private DataQuota? QuotaOf(Guid account) =>
        providers.Providers.FirstOrDefault(state => state.Account == account && state.Options.Quota is not null)?.Options.Quota;

    /// <summary>The capped accounts, each once with its first cap.</summary>
    private IEnumerable<(Guid Account, string Name, DataQuota Quota)> Capped() => providers.Providers
        .Where(static state => state.Options.Quota is not null)
        .DistinctBy(static state => state.Account)
        .Select(static state => (state.Account, state.Options.Name, state.Options.Quota!));

    private QuotaUse UseOf(DataQuota quota, Guid account, Count count)
    {
        var charged = providers.Charged(account);
        return new QuotaUse(quota.ByteLimit + count.Refilled, charged + count.Refilled, quota.StateAt(charged), count.Period, quota.NextReset(time.LocalDay()));
    }

    private void Warn(string name, QuotaUse use)
    {
        var (used, limit) = (use.Used / 1e9, use.Limit / 1e9);
        if (use.Warning == 100)
            ProvidersLog.QuotaSpent(logger, name, used, limit);
        else
            ProvidersLog.QuotaLow(logger, name, use.Warning, used, limit);
    }

    private async Task SaveAsync(bool isLast, CancellationToken cancellationToken)
    {
        await _saving.WaitAsync(cancellationToken);
        try
        {
            List<StoredQuota> changed = [];
            Guid[] dropped;
            lock (_gate)
            {
                foreach (var (account, count) in _counts)
                {
                    var row = count.Row(account, providers.Charged(account) + count.Refilled, isLast);
                    if (row != count.Saved)
                        changed.Add(row);
                }

                dropped = [.. _dropped];
            }

            if (changed.Count == 0 && dropped.Length == 0)
                return;
            await store.SaveAsync(changed, dropped, cancellationToken);
            lock (_gate)
            {
                _dropped.ExceptWith(dropped);
                foreach (var row in changed)
                {
                    if (_counts.TryGetValue(row.Account, out var count))
                        (count.Saved, count.SavedUsed) = (row, row.Used);
                }
            }
        }
        catch (Exception failure) when (failure is not OperationCanceledException)
        {
            ProvidersLog.MemoryNotWritten(logger, Name, failure.Message);
        }
        finally
        {
            _saving.Release();
        }
    }

    /// <summary>The count of one account. Guarded by the lock.</summary>
    private sealed class Count
    {
        public required DateOnly Period { get; set; }

        public required QuotaOrigin Origin { get; init; }

        public long Refilled { get; set; }

        public int Warned { get; set; }

        /// <summary>What the engine had charged at the last check.</summary>
        public long Seen { get; set; }

        public StoredQuota? Saved { get; set; }

        /// <summary>The use in <see cref="Saved"/>, or after a kill the use with its estimate; null before the first save.</summary>
        public long? SavedUsed { get; set; }

        public StoredQuota Row(Guid account, long used, bool isLast) =>
            new(account, Period, used, Refilled, isLast ? 0 : Math.Max(0, used - (SavedUsed ?? used)), Warned, Origin);
    }
}
