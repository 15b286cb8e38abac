using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>
/// Times searching lists of 100,000 rows, and removing and restoring a third of them (ADM-4, ADM-5). Run with <c>-showLiveOutput</c>.
/// The test prints the times and asserts nothing about them.
/// </summary>
public sealed class LargeListTests : IDisposable
{
    private const int Rows = 100_000;
    private const int Rounds = 15;

    // Every third row is in the category.
    private const int Removed = 33_333;

    private const string Name =
        "'The.' || substr('Show Film Epos Road Moon', 1 + 5 * (i % 5), 4) || '.S' || (i % 90) || 'E' || printf('%06d', i) || '.1080p.WEB.h264-GRP'";

    private const string Id = "'SABnzbd_nzo_' || lower(hex(randomblob(16)))";
    private const string Category = "CASE i % 3 WHEN 0 THEN 'tv' ELSE 'movies' END";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    [Trait("Category", EndToEndRun.Measures)]
    public async Task Removing_a_third_of_a_large_list_can_be_undone()
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        await server.Host.Get<SluiceDatabase>().WriteAsync(connection => Fill(connection, Rows), Token);

        foreach (var list in new[] { "queue?category=tv", "history?category=tv", "files?path=tv" })
        {
            foreach (var search in new[] { "q=moon", "q=1080", "q=nothing", "q=moon&sort=size", "q=1080&sort=size", "q=the+s+e+1080p+web+h264+grp" })
                await MeasureAsync(server, $"{list}&{search}");
        }

        await MeasureAsync(server, "files?path=tv&q=1080&sort=newest");
        foreach (var list in new[] { "queue", "history" })
        {
            var clock = Stopwatch.StartNew();
            var removed = await server.SendAsync(
                HttpMethod.Post, $"{list}/remove", new JsonObject { ["filter"] = new JsonObject { ["category"] = "tv" } });
            Say($"{list}: {Removed} removed", clock.Elapsed);
            Assert.Equal((Removed, Rows - Removed), (removed["count"]!.GetValue<int>(), (await server.GetAsync(list))["total"]!.GetValue<int>()));

            clock.Restart();
            await server.SendAsync(HttpMethod.Post, $"undo/{removed["undo"]}", null, HttpStatusCode.NoContent);
            Say($"{list}: {Removed} brought back", clock.Elapsed);
            Assert.Equal(Rows, (await server.GetAsync(list))["total"]!.GetValue<int>());
        }
    }

    [Theory]
    [Trait("Category", EndToEndRun.Measures)]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(100)]
    [InlineData(1_000)]
    [InlineData(10_000)]
    [InlineData(Rows)]
    public async Task List_read_times_are_measured_by_row_count(int rows)
    {
        await using var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        await server.Host.Get<SluiceDatabase>().WriteAsync(connection => Fill(connection, rows), Token);

        foreach (var path in new[] { "queue", "history", "history?q=s", "history?q=the+s+e+1080p+web+h264+grp" })
            Assert.Equal(rows, await MeasureAsync(server, path));
        // Half of the history failed in the last week, for two reasons.
        await server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute(
                "UPDATE history_item SET reason = CASE number % 4 WHEN 0 THEN 'DeadPost' ELSE 'NoMedia' END, completed_at = @now - number WHERE number % 2 = 0",
                new { now = TimeProvider.System.GetUtcNow().ToUnixTimeMilliseconds() }),
            Token);
        await MeasureHomeAsync(server, rows);
        foreach (var call in new[] { "mode=queue&limit=100", "mode=history&limit=100" })
        {
            var times = new List<TimeSpan>();
            for (var round = 0; round < Rounds; round++)
            {
                var clock = Stopwatch.StartNew();
                var list = (await server.Host.CallAsync(call, Token)).GetProperty(call.Split('&')[0][5..]);
                times.Add(clock.Elapsed);
                Assert.Equal(Math.Min(rows, 100), list.GetProperty("slots").GetArrayLength());
            }

            Say($"{rows} rows, {call}", times.Order().ElementAt(Rounds / 2));
        }
    }

    /// <summary>Measures the home page, whose budget is 20 ms at 100,000 rows, and 8 KB.</summary>
    private static async Task MeasureHomeAsync(JobServer server, int rows)
    {
        var (times, length) = (new List<TimeSpan>(), 0);
        for (var round = 0; round < Rounds; round++)
        {
            var clock = Stopwatch.StartNew();
            length = (await server.GetAsync("home")).ToJsonString().Length;
            times.Add(clock.Elapsed);
        }

        Say($"{rows} rows, home of {length} bytes", times.Order().ElementAt(Rounds / 2));
    }

    /// <returns>The total that the pages report.</returns>
    private static async Task<int> MeasureAsync(JobServer server, string path)
    {
        var (times, total) = (new List<TimeSpan>(), 0);
        for (var round = 0; round < Rounds; round++)
        {
            var clock = Stopwatch.StartNew();
            var page = await server.GetAsync(path);
            times.Add(clock.Elapsed);
            total = page["total"]!.GetValue<int>();
        }

        Say(path, times.Order().ElementAt(Rounds / 2));
        return total;
    }

    private static int Fill(System.Data.Common.DbConnection connection, int rows) => connection.Execute(
        $"""
        {Numbers(rows)} INSERT INTO queue_file (id, folder, name, hash, length, packed, added_at, properties)
          SELECT i, 'tv', {Name} || '.nzb', 'h' || i, 1000, 0, 1800000000000, '' FROM n;
        {Numbers(rows)} INSERT INTO queue_item
            (id, file, position, name, nzb_name, category, folder, priority, paused, password, post_processing, script, nzb_hash, nzb_length, encoded_bytes,
             added_at, folded)
          SELECT {Id}, i, i, {Name}, {Name} || '.nzb', {Category}, 'tv', 0, 0, '', 3, '', lower(hex(randomblob(32))), 1000, (i * 7919) % 1000003,
            1800000000000, fold_text({Name}) FROM n;
        {Numbers(rows)} INSERT INTO history_item
            (number, id, name, nzb_name, category, folder, priority, password, post_processing, script, nzb_hash, encoded_bytes, bytes, fail_message,
             added_at, started_at, completed_at, steps, folded)
          SELECT i, {Id}, {Name}, {Name} || '.nzb', {Category}, 'tv', 0, '', 3, '', lower(hex(randomblob(32))), 1000, (i * 7919) % 1000003, '',
            1800000000000, 1800000000000, 1800000000000 + i, '[]', fold_text({Name}) FROM n;
        {Numbers(rows)} INSERT INTO release (id, category, name, nzb_hash, published_at, folded)
          SELECT i, 'tv', {Name}, 'h' || i, 1800000000000 + i, fold_text({Name}) FROM n;
        {Numbers(rows)} INSERT INTO library_file (id, release_id, category, published_at, path_key, length, etag, content, folded)
          SELECT printf('00000000-0000-0000-0000-%012d', i), i, 'tv', 1800000000000 + i, {Name} || '.mkv', (i * 7919) % 1000003, 'x', zeroblob(200),
            fold_text({Name} || ' ' || {Name} || '.mkv') FROM n;
        """);

    private static string Numbers(int rows) =>
        string.Create(CultureInfo.InvariantCulture, $"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows}) ");

    private static void Say(string what, TimeSpan time) => TestContext.Current.TestOutputHelper?.WriteLine(
        string.Create(CultureInfo.InvariantCulture, $"{what}: {time.TotalMilliseconds:F0} ms"));
}
