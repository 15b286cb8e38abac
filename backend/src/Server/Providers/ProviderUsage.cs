using System.Globalization;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Providers;

/// <summary>Bytes in the periods that SABnzbd clients show. Weeks begin on Monday.</summary>
internal sealed record UsageSums(long Total, long Month, long Week, long Day);

/// <summary>
/// Usage of the providers per day in the server's time zone (SAB-46). Keeps all days in memory, and adds new usage to <c>provider_usage</c> twice a minute
/// and at shutdown.
/// </summary>
/// <remarks>Thread-safe. Usage since the last call counts for the day of the current call.</remarks>
internal sealed class ProviderUsage(ProviderHost providers, SluiceDatabase database, TimeProvider time) : ILearnedMemory, IDisposable
{
    private const string DayForm = "yyyy-MM-dd";

    // Guards the tables below. No other lock is taken inside.
    private readonly Lock _gate = new();
    private readonly Dictionary<(Guid Provider, DateOnly Day), ProviderUse> _days = [];
    private Dictionary<(Guid Provider, DateOnly Day), ProviderUse> _unsaved = [];
    private readonly Dictionary<Guid, ProviderUse> _counted = [];

    // Allows only one save or deletion at a time, because usage is in neither table while it is being saved.
    private readonly SemaphoreSlim _saving = new(1);

    public string Name => "the usage of providers";

    /// <summary>Formats a day for storage and display.</summary>
    public static string Write(DateOnly day) => day.ToString(DayForm, CultureInfo.InvariantCulture);

    /// <summary>Parses a stored day; null if malformed.</summary>
    public static DateOnly? ReadDay(string day) =>
        DateOnly.TryParseExact(day, DayForm, CultureInfo.InvariantCulture, DateTimeStyles.None, out var read) ? read : null;

    /// <summary>Returns total usage and today's usage by provider id.</summary>
    public IReadOnlyDictionary<Guid, (ProviderUse Total, ProviderUse Today)> TotalsById()
    {
        lock (_gate)
        {
            var today = CountNew();
            var sums = new Dictionary<Guid, (ProviderUse Total, ProviderUse Today)>();
            foreach (var ((provider, day), use) in _days)
            {
                var (total, now) = sums.GetValueOrDefault(provider);
                sums[provider] = (total + use, day == today ? use : now);
            }

            return sums;
        }
    }

    /// <summary>Deletes the recorded usage of a provider.</summary>
    public async Task ForgetAsync(Guid provider, CancellationToken cancellationToken)
    {
        await _saving.WaitAsync(cancellationToken);
        try
        {
            lock (_gate)
            {
                CountNew();
                Remove(_days, provider);
                Remove(_unsaved, provider);
            }

            await database.WriteAsync(
                connection => connection.Execute("DELETE FROM provider_usage WHERE provider = @provider", new { provider = provider.ToString() }),
                cancellationToken);
        }
        finally
        {
            _saving.Release();
        }
    }

    /// <summary>Sums the usage of some providers; null for all providers ever used.</summary>
    public UsageSums Sum(IReadOnlyCollection<Guid>? ids = null)
    {
        lock (_gate)
        {
            var today = CountNew();
            var week = today.AddDays(-(((int)today.DayOfWeek + 6) % 7));
            var (total, month, thisWeek, day) = (0L, 0L, 0L, 0L);
            foreach (var (key, use) in _days)
            {
                if (ids is not null && !ids.Contains(key.Provider))
                    continue;
                total += use.Bytes;
                month += (key.Day.Year, key.Day.Month) == (today.Year, today.Month) ? use.Bytes : 0;
                thisWeek += key.Day >= week && key.Day <= today ? use.Bytes : 0;
                day += key.Day == today ? use.Bytes : 0;
            }

            return new UsageSums(total, month, thisWeek, day);
        }
    }

    /// <summary>Returns the days on which any of the providers was used, oldest first.</summary>
    public IReadOnlyList<(DateOnly Day, ProviderUse Use)> Days(IReadOnlyCollection<Guid> ids)
    {
        lock (_gate)
        {
            CountNew();
            return
            [
                .. _days.Where(pair => ids.Contains(pair.Key.Provider))
                    .GroupBy(pair => pair.Key.Day, pair => pair.Value)
                    .Select(day => (day.Key, day.Aggregate((sum, use) => sum + use)))
                    .OrderBy(day => day.Key),
            ];
        }
    }

    public async Task RestoreAsync(CancellationToken cancellationToken)
    {
        var rows = await database.ReadAsync(
            connection => (List<UsageRow>)
            [
                .. connection.Query<UsageRow>(
                    """
                    SELECT provider AS Provider, day AS Day, bytes AS Bytes, playback AS Playback, scans AS Scans, import AS Import, checks AS Checks, tried AS Tried,
                      found AS Found
                    FROM provider_usage
                    """),
            ],
            cancellationToken);
        lock (_gate)
        {
            foreach (var row in rows)
            {
                // Skip a malformed row, because it must not hide the others.
                if (Guid.TryParse(row.Provider, out var provider) && ReadDay(row.Day) is { } day)
                    Add(_days, provider, day, row.Read());
            }
        }
    }

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        await _saving.WaitAsync(cancellationToken);
        try
        {
            await SaveNewAsync(cancellationToken);
        }
        finally
        {
            _saving.Release();
        }
    }

    public void Dispose() => _saving.Dispose();

    private async Task SaveNewAsync(CancellationToken cancellationToken)
    {
        Dictionary<(Guid Provider, DateOnly Day), ProviderUse> fresh;
        lock (_gate)
        {
            CountNew();
            (fresh, _unsaved) = (_unsaved, []);
        }

        if (fresh.Count == 0)
            return;
        try
        {
            await database.WriteAsync(
                connection => connection.Execute(
                    """
                    INSERT INTO provider_usage (provider, day, bytes, playback, scans, import, checks, tried, found)
                    VALUES (@Provider, @Day, @Bytes, @Playback, @Scans, @Import, @Checks, @Tried, @Found)
                    ON CONFLICT (provider, day) DO UPDATE
                    SET bytes = provider_usage.bytes + excluded.bytes, playback = provider_usage.playback + excluded.playback,
                      scans = provider_usage.scans + excluded.scans, import = provider_usage.import + excluded.import, checks = provider_usage.checks + excluded.checks,
                      tried = provider_usage.tried + excluded.tried, found = provider_usage.found + excluded.found
                    """,
                    fresh.Select(pair => UsageRow.Of(pair.Key.Provider, pair.Key.Day, pair.Value))),
                cancellationToken);
        }
        catch
        {
            lock (_gate)
            {
                foreach (var ((provider, day), use) in fresh)
                    Add(_unsaved, provider, day, use);
            }

            throw;
        }
    }

    /// <summary>Counts new usage for today. Call under the lock.</summary>
    private DateOnly CountNew()
    {
        var today = time.LocalDay();
        foreach (var (provider, use) in providers.Uses)
        {
            var fresh = use - _counted.GetValueOrDefault(provider);
            if (fresh == default)
                continue;
            _counted[provider] = use;
            Add(_days, provider, today, fresh);
            Add(_unsaved, provider, today, fresh);
        }

        return today;
    }

    private static void Add(Dictionary<(Guid Provider, DateOnly Day), ProviderUse> to, Guid provider, DateOnly day, ProviderUse use) =>
        to[(provider, day)] = to.GetValueOrDefault((provider, day)) + use;

    private static void Remove(Dictionary<(Guid Provider, DateOnly Day), ProviderUse> from, Guid provider)
    {
        foreach (var key in from.Keys.Where(key => key.Provider == provider).ToList())
            from.Remove(key);
    }

    internal sealed record UsageRow(string Provider, string Day, long Bytes, long Playback, long Scans, long Import, long Checks, long Tried, long Found)
    {
        // Undecided bytes are stored as playback. Once a scan is recognized, its bytes move, so a share may be negative.
        public static UsageRow Of(Guid provider, DateOnly day, ProviderUse use) => new(
            provider.ToString(),
            Write(day),
            use.Bytes,
            use.Lanes.Playback + use.Lanes.Undecided,
            use.Lanes.Scans,
            use.Lanes.Import,
            use.Lanes.Checks,
            use.Tried,
            use.Found);

        public ProviderUse Read()
        {
            var (playback, scans, import, checks) = (Math.Max(0, Playback), Math.Max(0, Scans), Math.Max(0, Import), Math.Max(0, Checks));
            return new ProviderUse(
                new LaneBytes(playback, scans, import, checks, Math.Max(0, Bytes - playback - scans - import - checks)), Math.Max(0, Tried), Math.Max(0, Found));
        }
    }
}
