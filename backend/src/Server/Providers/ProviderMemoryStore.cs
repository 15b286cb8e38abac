using System.Data.Common;
using Dapper;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Providers;

/// <summary>Loads and saves the learned connection limits, misses and failures of providers.</summary>
internal sealed class LearnedProviders(ProviderMemory memory, ProviderMemoryStore store, IOptionsMonitor<UsenetOptions> options) : ILearnedMemory
{
    public string Name => "learned limits, misses and failures of providers";

    public async Task RestoreAsync(CancellationToken cancellationToken) =>
        memory.Restore(await store.LoadAsync(options.CurrentValue.MissCacheEntries, cancellationToken));

    public async Task SaveAsync(CancellationToken cancellationToken)
    {
        var values = memory.TakeNew();
        if (!values.IsEmpty)
            await store.SaveAsync(values, options.CurrentValue.MissCacheEntries, cancellationToken);
    }
}

/// <summary>Reads and writes <c>provider_cap</c>, <c>provider_miss</c> and, with <see cref="BreakRow"/>, <c>provider_break</c>.</summary>
internal sealed class ProviderMemoryStore(SluiceDatabase database, TimeProvider time)
{
    /// <summary>Loads unexpired values, with at most the <paramref name="most"/> newest misses.</summary>
    public Task<LearnedValues> LoadAsync(int most, CancellationToken cancellationToken) => database.ReadAsync(
        connection =>
        {
            var now = time.WallTime().ToUnixTimeMilliseconds();
            var caps = connection.Query<CapRow>("SELECT provider AS Provider, cap AS Cap FROM provider_cap")
                .Where(row => Guid.TryParse(row.Provider, out _) && row.Cap is > 0 and <= int.MaxValue)
                .DistinctBy(row => Guid.Parse(row.Provider))
                .ToDictionary(row => Guid.Parse(row.Provider), row => (int?)row.Cap);
            var misses = connection.Query<MissRow>(
                "SELECT key AS Key, until AS UntilMilliseconds, believed AS BelievedMilliseconds FROM provider_miss WHERE until > @now ORDER BY until DESC LIMIT @most",
                new { now, most });
            return new LearnedValues(caps, [.. misses.Where(row => row.Key.Length == 16).Select(row => row.Read()).Reverse()])
            {
                Breaks = BreakRow.Load(connection),
            };
        },
        cancellationToken);

    /// <summary>Adds new values. Removes expired misses, and the oldest beyond <paramref name="most"/>.</summary>
    public Task SaveAsync(LearnedValues values, int most, CancellationToken cancellationToken) => database.WriteAsync(
        connection =>
        {
            foreach (var (provider, cap) in values.Caps)
            {
                connection.Execute(
                    cap is null
                        ? "DELETE FROM provider_cap WHERE provider = @id"
                        : "INSERT INTO provider_cap (provider, cap) VALUES (@id, @cap) ON CONFLICT (provider) DO UPDATE SET cap = excluded.cap",
                    new { id = provider.ToString(), cap });
            }

            BreakRow.Save(connection, values.Breaks);
            // Insert one row at a time, because Dapper's generator does not support batches with binary columns.
            foreach (var miss in values.Misses)
            {
                connection.Execute(
                    """
                    INSERT INTO provider_miss (key, until, believed) VALUES (@key, @until, @believed)
                    ON CONFLICT (key) DO UPDATE SET until = excluded.until, believed = excluded.believed
                    """,
                    new
                    {
                        key = new SqlBytes(miss.Key.ToByteArray()),
                        until = miss.Until.ToUnixTimeMilliseconds(),
                        believed = (long)miss.Believed.TotalMilliseconds,
                    });
            }

            connection.Execute("DELETE FROM provider_miss WHERE until <= @now", new { now = time.WallTime().ToUnixTimeMilliseconds() });
            return connection.Execute(
                "DELETE FROM provider_miss WHERE key IN (SELECT key FROM provider_miss ORDER BY until DESC LIMIT -1 OFFSET @most)",
                new { most });
        },
        cancellationToken);

    internal sealed record CapRow(string Provider, long Cap);

    internal sealed record MissRow(byte[] Key, long UntilMilliseconds, long BelievedMilliseconds)
    {
        private static readonly TimeSpan MostBelieved = TimeSpan.FromDays(3650);

        // Clamp times and durations, because a malformed row must not prevent startup.
        public RememberedMiss Read() => new(
            new Guid(Key),
            DateTimeOffset.FromUnixTimeMilliseconds(Math.Min(UntilMilliseconds, DateTimeOffset.MaxValue.ToUnixTimeMilliseconds())),
            TimeSpan.FromMilliseconds(Math.Clamp(BelievedMilliseconds, 0, (long)MostBelieved.TotalMilliseconds)));
    }
}

/// <summary>A row of <c>provider_break</c>. The breaker decides whether it is still relevant.</summary>
internal sealed record BreakRow(
    string Provider, long Kind, long? Fault, long OpenedAt, long RestsUntil, long Cooldown, long Trips, long PassesLeft)
{
    /// <summary>Loads all rows except malformed ones.</summary>
    public static IReadOnlyDictionary<(Guid Provider, BreakerKind Kind), RememberedBreak?> Load(DbConnection connection)
    {
        var breaks = new Dictionary<(Guid, BreakerKind), RememberedBreak?>();
        var rows = connection.Query<BreakRow>(
            """
            SELECT provider AS Provider, kind AS Kind, fault AS Fault, opened_at AS OpenedAt, rests_until AS RestsUntil,
              cooldown AS Cooldown, trips AS Trips, passes_left AS PassesLeft
            FROM provider_break
            """);
        foreach (var row in rows)
        {
            if (Guid.TryParse(row.Provider, out var provider) && row.IsReadable)
                breaks[(provider, (BreakerKind)row.Kind)] = row.Read();
        }

        return breaks;
    }

    public static void Save(
        DbConnection connection, IReadOnlyDictionary<(Guid Provider, BreakerKind Kind), RememberedBreak?> breaks)
    {
        foreach (var ((provider, kind), known) in breaks)
        {
            connection.Execute(
                "DELETE FROM provider_break WHERE provider = @provider AND kind = @kind", new { provider = provider.ToString(), kind = (long)kind });
            if (known is null)
                continue;
            connection.Execute(
                """
                INSERT INTO provider_break (provider, kind, fault, opened_at, rests_until, cooldown, trips, passes_left)
                VALUES (@Provider, @Kind, @Fault, @OpenedAt, @RestsUntil, @Cooldown, @Trips, @PassesLeft)
                """,
                Of(provider, kind, known));
        }
    }

    private static BreakRow Of(Guid provider, BreakerKind kind, RememberedBreak known) => new(
        provider.ToString(),
        (long)kind,
        (long?)known.Fault,
        known.OpenedAt.ToUnixTimeMilliseconds(),
        known.RestsUntil.ToUnixTimeMilliseconds(),
        (long)known.Cooldown.TotalMilliseconds,
        known.Trips,
        known.PassesLeft);

    private bool IsReadable =>
        Enum.IsDefined((BreakerKind)Kind) && (Fault is null || Enum.IsDefined((NntpFault)Fault)) && IsTime(OpenedAt) && IsTime(RestsUntil)
        && Cooldown is >= 0 and <= int.MaxValue && Trips is > 0 and <= int.MaxValue && PassesLeft is >= int.MinValue and <= int.MaxValue;

    private static bool IsTime(long milliseconds) =>
        milliseconds >= 0 && milliseconds <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();

    private RememberedBreak Read() => new(
        (NntpFault?)Fault,
        DateTimeOffset.FromUnixTimeMilliseconds(OpenedAt),
        DateTimeOffset.FromUnixTimeMilliseconds(RestsUntil),
        TimeSpan.FromMilliseconds(Cooldown),
        (int)Trips,
        (int)PassesLeft);
}
