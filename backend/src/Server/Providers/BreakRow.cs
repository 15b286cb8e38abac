using System.Data.Common;
using Dapper;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>A row of <c>provider_break</c>, as SQLite gives it. Whether it is still worth anything, its breaker decides.</summary>
internal sealed record BreakRow(
    string Provider, long Kind, long? Fault, long OpenedAt, long RestsUntil, long Cooldown, long Trips, long PassesLeft)
{
    /// <summary>All of them; what nobody can read is left out.</summary>
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

    /// <summary>Writes those that have changed.</summary>
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
