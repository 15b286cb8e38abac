using System.Collections.Concurrent;
using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Outbound;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>An acknowledged item survives a kill at each step and at any moment (G3, IMP-3, IMP-5).</summary>
[Collection(EndToEndRun.Name)]
public sealed class KillPointTests
{
    private const int Kills = 30;
    private const int LongKills = 100;
    private const int Lanes = 4;
    private const int Seed = 20261123;

    // The requirement is five seconds on a quiet machine.
    private static readonly TimeSpan MostStart = TimeSpan.FromSeconds(25);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>
    /// The steps of a server with items; <see cref="MigrationKillTests"/>, <see cref="BackupKillTests"/> and <see cref="FileRemovalKillTests"/> cover the
    /// others.
    /// </summary>
    public static IReadOnlyList<string> Points { get; } =
    [
        "start-noted", "start-written", "transaction-done", "transaction-committed",
        "file-created", "file-written", "file-synced", "file-named", "file-folder-synced", "retire-begins", "retire-half-done",
        "add-received", "add-inserted", "add-committed", "fetch-inserted", "staged-leaves", "call-answered",
        "publish-begins", "publish-dequeued", "publish-committed", "publish-shelved", "failure-dequeued", "failure-committed",
        "delete-begins", "delete-committed", "delete-settled", "hide-begins", "hide-committed", "hide-settled",
        "forget-begins", "forget-committed", "forget-settled", "retry-begins", "retry-taken", "retry-committed",
    ];

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public Task G3_Kill_at_any_step_keeps_each_acknowledged_item_once() => RunAsync(Kills, Seed);

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task G3_Hundred_kills_keep_each_acknowledged_item_once() => RunAsync(LongKills, Seed + 1);

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", FailpointBuild.Part)]
    public async Task G3_Planted_losses_and_duplicates_are_detected()
    {
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, Token);
        var ledger = new ItemLedger();
        SyntheticFilm[] films = [.. Enumerable.Range(901, 5).Select(seed => new SyntheticFilm((ulong)seed, 60_000, 30_000))];
        foreach (var film in films)
        {
            var item = ledger.Ask(film.Name, film.Nzb, film);
            ledger.Keep(item, await set.Client.AddFileAsync(film == films[0] || film == films[1] ? "movies&priority=-2" : "movies", film.Name, film.Nzb, Token));
        }

        foreach (var film in films[2..])
            await set.Client.PublishedAsync(film.Name, Token);
        Assert.Empty(await new LedgerCheck(ledger, set.Data, set.Client).RunAsync(Token));
        await set.Server.KillAsync();

        Plant(
            set.Data,
            $"""
            DELETE FROM queue_item WHERE name = '{films[0].Name}';
            INSERT INTO history_item (id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, bytes,
              reason, fail_message, added_at, started_at, completed_at, steps)
              SELECT id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, 0,
              'InternalError', '', added_at, added_at, added_at, '[]' FROM queue_item WHERE name = '{films[1].Name}';
            DELETE FROM posted_file WHERE release_id = (SELECT id FROM release WHERE name = '{films[2].Name}');
            DELETE FROM history_item WHERE name = '{films[3].Name}';
            """);
        foreach (var item in ledger.Items)
            item.IsRead = false;
        await set.RestartAsync(null, Token);

        var found = await new LedgerCheck(ledger, set.Data, set.Client).RunAsync(Token);
        Assert.Collection(
            found.Order(StringComparer.Ordinal),
            sentence => Assert.StartsWith($"{films[0].Name} is 0 times in the queue and 0 times in the history: lost", sentence, StringComparison.Ordinal),
            sentence => Assert.StartsWith($"{films[1].Name} is 1 times in the queue and 1 times in the history: doubled", sentence, StringComparison.Ordinal),
            sentence => Assert.StartsWith($"{films[2].Name} is visible and does not read whole", sentence, StringComparison.Ordinal),
            sentence => Assert.StartsWith($"{films[3].Name} is 0 times in the queue and 0 times in the history: lost", sentence, StringComparison.Ordinal),
            sentence => Assert.StartsWith($"{films[3].Name} is visible and not in the history", sentence, StringComparison.Ordinal));
    }

    private static async Task RunAsync(int kills, int seed)
    {
        FailpointBuild.Require();
        await using var mock = await MockServer.StartAsync();
        await using var indexer = await FakeIndexer.StartAsync(GiveFilmAsync);
        var settings = ProviderSettings.For([.. mock.Ports], "", "");
        settings["SLUICE_CONFIG__API__ADDURL_TRUSTED_HOSTS"] = "127.0.0.1";
        settings["SLUICE_CONFIG__DATABASE__HISTORY_RETENTION_DAYS"] = "1";
        var random = new Random(seed);
        var named = Enumerable.Range(0, kills).SelectMany(_ => Points.Select(point => (string?)point)).Take(Math.Max(Points.Count, kills * 4 / 5));
        var rounds = named.Concat(Enumerable.Repeat<string?>(null, kills)).Take(Math.Max(kills, Points.Count + (kills / 10))).ToArray();
        random.Shuffle(rounds);

        // Each lane takes the next kill when it has finished one.
        var next = new ConcurrentQueue<(string? Point, int Pass)>(rounds.Select(point => (point, PassOf(point, random))));
        var lanes = Enumerable.Range(1, Lanes).Select(lane => new KillLane(lane, settings, indexer.Port)).ToList();
        try
        {
            await Task.WhenAll(lanes.Select(async lane =>
            {
                while (next.TryDequeue(out var kill))
                    await lane.RoundAsync(kill.Point, kill.Pass, Token);
                await lane.FinishAsync(Token);
            }));
        }
        finally
        {
            lanes.ForEach(lane => lane.Dispose());
        }

        var slowest = lanes.Max(lane => lane.Slowest);
        TestContext.Current.TestOutputHelper!.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"seed {seed}: {rounds.Length} kills at steps and at random and as many among imports, {lanes.Sum(lane => lane.Calls)} calls, {lanes.Sum(lane => lane.Acknowledged)} items acknowledged, {lanes.Sum(lane => lane.Read)} films read, slowest start {slowest.TotalSeconds:F2} s"));
        Assert.InRange(slowest, TimeSpan.Zero, MostStart);
    }

    /// <summary>Returns a late pass for steps that a start passes too, otherwise an early one. The start deletes all old items in one pass.</summary>
    private static int PassOf(string? point, Random random) => point switch
    {
        null => random.Next(10, 80),
        _ when point.StartsWith("start-", StringComparison.Ordinal) || KillLane.IsOfOldItems(point) => 1,
        _ when point.StartsWith("transaction-", StringComparison.Ordinal) => random.Next(3, 20),
        _ => random.Next(1, 4),
    };

    /// <summary>Serves the NZB of the film in the path.</summary>
    private static Task GiveFilmAsync(HttpContext context)
    {
        var seed = ulong.Parse(context.Request.Path.Value!.Split('-')[^1], CultureInfo.InvariantCulture);
        return FakeIndexer.Give(KillLane.FilmOf(seed).Nzb)(context);
    }

    private static void Plant(string data, string sql)
    {
        using var connection = new SqliteConnection($"Data Source={Path.Combine(data, "sluice.db")};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }
}
