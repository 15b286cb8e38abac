using System.Net;
using System.Text.Json.Nodes;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The lists of queue and history (ADM-4, ADM-91).</summary>
public sealed class JobListTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("queue", "position")]
    [InlineData("queue", "name")]
    [InlineData("queue", "size")]
    [InlineData("queue", "age")]
    [InlineData("history", "newest")]
    [InlineData("history", "oldest")]
    [InlineData("history", "name")]
    [InlineData("history", "size")]
    public async Task Paging_neither_skips_nor_repeats_rows_while_rows_change(string list, string sort)
    {
        const int Changes = 2000;
        await using var server = await StartPausedAsync();
        var database = server.Host.Get<SluiceDatabase>();
        var (dice, next, alive) = (new Random(4711), 0, new List<string>());
        await InsertAsync(300);
        var stay = alive.ToHashSet();

        var seen = new List<string>();
        var changes = 0;
        for (var cursor = ""; cursor is not null;)
        {
            var page = await server.GetAsync($"{list}?sort={sort}&limit=7&cursor={cursor}");
            seen.AddRange(page["items"]!.AsArray().Select(row => Text(row!, "id")));
            cursor = page["next"]?.GetValue<string>();
            // There are about forty pages, and the changes are spread over them.
            for (var left = Changes / 40; left > 0 && changes < Changes; left--, changes++)
            {
                if (dice.Next(2) == 0)
                    await InsertAsync(1);
                else
                    await RemoveAsync(alive[dice.Next(alive.Count)]);
            }
        }

        Assert.Equal(seen.Count, seen.Distinct().Count());
        Assert.Superset(stay.Where(alive.Contains).ToHashSet(), seen.ToHashSet());
        Assert.True(changes >= Changes / 2, $"{changes} changes");

        async Task InsertAsync(int count)
        {
            var rows = Enumerable.Range(0, count).Select(_ => (Id: $"id{next++:00000}", Name: $"Release {dice.Next(50)}", Bytes: dice.Next(20))).ToList();
            await database.WriteAsync(
                connection =>
                {
                    foreach (var row in rows)
                    {
                        if (list == "queue")
                            QueueStore.Insert(connection, Queued(row.Id, $"{row.Name} {row.Id}") with { EncodedBytes = row.Bytes, Priority = (QueuePriority)(row.Bytes % 3 - 1), AddedAt = Time(row.Bytes) }, 0);
                        else
                            HistoryStore.Insert(connection, Ended(row.Id, row.Name) with { Bytes = row.Bytes });
                    }

                    return true;
                },
                Token);
            alive.AddRange(rows.Select(row => row.Id));
        }

        async Task RemoveAsync(string id)
        {
            await database.WriteAsync(
                connection => list == "queue" ? QueueStore.Remove(connection, id)?.Id : HistoryStore.TakeFailed(connection, id, needsNzb: false)?.Id, Token);
            alive.Remove(id);
        }
    }

    [Fact]
    public async Task Search_ignores_word_order_separators_and_accents()
    {
        await using var server = await StartPausedAsync();
        await AddAsync(server, "Big.Buck_Bunny-2008.1080p", "Amélie.2001", "100% Wolf", "Straße der Träume");

        foreach (var (q, names) in new[]
        {
            ("big buck 1080", "Big.Buck_Bunny-2008.1080p"), ("1080P BUNNY", "Big.Buck_Bunny-2008.1080p"), ("uck_bun", "Big.Buck_Bunny-2008.1080p"), ("buck 720", ""),
            ("amelie", "Amélie.2001"), ("AMÉLIE", "Amélie.2001"), ("2001", "Amélie.2001"), ("100%", "100% Wolf"), ("%", "100% Wolf"), ("strasse traume", "Straße der Träume"), ("'", ""),
        })
        {
            foreach (var list in new[] { "queue", "history" })
                Assert.Equal((list, q, names), (list, q, string.Join('|', (await server.ListAsync($"{list}?q={Uri.EscapeDataString(q)}")).Select(row => Text(row, "name")))));
        }

        Assert.Equal(1, (await server.GetAsync("queue?q=buck"))["total"]!.GetValue<int>());
    }

    [Fact]
    public async Task Renamed_item_is_found_by_its_new_name()
    {
        await using var server = await StartPausedAsync();
        var id = await server.AddAsync("Old");

        await server.SendAsync(HttpMethod.Put, $"queue/{id}", new JsonObject { ["name"] = "Né w" });

        Assert.Empty(await server.ListAsync("queue?q=old"));
        Assert.Single(await server.ListAsync("queue?q=ne"));
    }

    [Fact]
    public async Task Lists_are_sorted_and_filtered()
    {
        await using var server = await StartPausedAsync();
        var database = server.Host.Get<SluiceDatabase>();
        await database.InsertAsync(
            HistoryStore.Insert,
            Ended("1", "b.B") with { Bytes = 5, Reason = null, Category = "tv" },
            Ended("2", "A") with { Bytes = 7 },
            Ended("3", "c") with { Bytes = 1, Reason = nameof(FailureReason.DeadPost), Category = "TV" });
        await database.InsertAsync(
            (connection, item) => QueueStore.Insert(connection, item, 0),
            Queued("q1", "b") with { EncodedBytes = 5, AddedAt = Time(3) },
            Queued("q2", "A") with { EncodedBytes = 7, AddedAt = Time(1), Priority = QueuePriority.Low, Paused = true },
            Queued("q3", "c") with { EncodedBytes = 1, AddedAt = Time(2), Priority = QueuePriority.Force });

        foreach (var (path, ids) in new[]
        {
            ("history", "3 2 1"), ("history?sort=newest", "3 2 1"), ("history?sort=oldest", "1 2 3"), ("history?sort=name", "2 1 3"), ("history?sort=size", "2 1 3"),
            ("history?category=tv", "3 1"), ("history?result=completed", "1"), ("history?result=failed&sort=oldest", "2 3"), ("history?reason=dead-post", "3"), ("history?q=b", "1"),
            ("queue", "q3 q1 q2"), ("queue?sort=position", "q3 q1 q2"), ("queue?sort=name", "q2 q1 q3"), ("queue?sort=size", "q2 q1 q3"), ("queue?sort=age", "q2 q3 q1"),
            ("queue?state=paused", "q1 q2"), ("queue?state=waiting", "q3"), ("queue?state=running", ""), ("queue?sort=name&state=paused&q=b", "q1"),
        })
        {
            var page = await server.GetAsync(path);
            Assert.Equal((path, ids), (path, string.Join(' ', page["items"]!.AsArray().Select(row => Text(row!, "id")))));
            Assert.Equal((path, ids.Split(' ', StringSplitOptions.RemoveEmptyEntries).Length), (path, page["total"]!.GetValue<int>()));
        }

        Assert.Equal([("q2", 2), ("q1", 1), ("q3", 0)], (await server.ListAsync("queue?sort=name")).Select(row => (Text(row, "id"), row["position"]!.GetValue<int>())));
    }

    [Theory]
    [InlineData("limit=0")]
    [InlineData("limit=501")]
    [InlineData("limit=many")]
    [InlineData("sort=colour")]
    [InlineData("cursor=nonsense")]
    [InlineData("cursor=%00")]
    public async Task Invalid_list_parameters_return_400(string query)
    {
        await using var server = await JobServer.StartAsync(_folder);

        await server.SendAsync(HttpMethod.Get, $"queue?{query}", null, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, $"history?{query}", null, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, "queue?state=asleep", null, HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, "history?reason=DeadPost", null, HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Cursor_for_another_sort_order_is_refused()
    {
        await using var server = await StartPausedAsync();
        await AddAsync(server, "A", "B");
        var next = Text(await server.GetAsync("history?limit=1&sort=name"), "next");

        Assert.Single(await server.ListAsync($"history?limit=1&sort=name&cursor={next}"));
        await server.SendAsync(HttpMethod.Get, $"history?limit=1&sort=size&cursor={next}", null, HttpStatusCode.BadRequest);
    }

    [Theory]
    [InlineData(nameof(HistoryOrder.Newest), "", "^SCAN history_item$")]
    [InlineData(nameof(HistoryOrder.Name), "", "USING COVERING INDEX history_item_listed")]
    [InlineData(nameof(HistoryOrder.Size), "", "USING COVERING INDEX history_item_listed")]
    [InlineData(nameof(HistoryOrder.Newest), "buck", "USING COVERING INDEX history_item_listed")]
    [InlineData(nameof(HistoryOrder.Newest), "buck", "USING COVERING INDEX history_item_listed", "tv")]
    [InlineData(nameof(HistoryOrder.Size), "", "USING COVERING INDEX history_item_listed", "tv")]
    public async Task History_page_reads_only_the_full_rows_it_returns(string order, string q, string plan, string? category = null)
    {
        await using var database = _folder.OpenDatabase();
        var (list, table, by) = HistoryListStore.Plan(new HistoryQuery { Words = SearchText.WordsOf(q), Category = category, Order = Enum.Parse<HistoryOrder>(order) });

        var steps = await database.ExplainAsync(list.Sql(table, by, isFirst: true), new { words = q, category, most = 101 });

        Assert.Matches(plan, steps[0]);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(100)]
    public async Task Search_reads_each_name_once_for_any_number_of_words(int words)
    {
        const int rows = 300;
        await using var database = _folder.OpenDatabase();
        await database.InsertAsync(
            (connection, name) => HistoryStore.Insert(connection, Ended(name, name)), [.. Enumerable.Range(0, rows).Select(i => $"a.b.c.d.e.f.{(i % 3 == 0 ? "g" : "x")}.{i}")]);
        var query = new HistoryQuery { Words = SearchText.WordsOf(string.Join(' ', Enumerable.Range(0, words).Select(i => (char)('g' - (i % 7))))), Order = HistoryOrder.Name };

        var calls = 0;
        var found = await database.ReadAsync(
            connection =>
            {
                ((SqliteConnection)connection).CreateFunction("contains_words", (byte[] text, byte[] wanted) =>
                {
                    calls++;
                    return SearchText.ContainsWords(text, wanted);
                });
                var (list, table, order) = HistoryListStore.Plan(query);
                return list.Read(connection, table, order, null, 500).Items.Count;
            },
            Token);

        Assert.Equal((rows, rows / 3), (calls, found));
    }

    private async Task<JobServer> StartPausedAsync()
    {
        var server = await JobServer.StartAsync(_folder);
        await server.SendAsync(HttpMethod.Post, "queue/pause", new JsonObject());
        return server;
    }

    private static async Task AddAsync(JobServer server, params string[] names)
    {
        var database = server.Host.Get<SluiceDatabase>();
        await database.InsertAsync((connection, name) => QueueStore.Insert(connection, Queued(name, name), 0), names);
        await database.InsertAsync((connection, name) => HistoryStore.Insert(connection, Ended(name, name)), names);
    }

    private static QueueItem Queued(string id, string name) => new()
    {
        Id = id,
        Name = name,
        NzbName = name + ".nzb",
        Category = "*",
        Folder = "uncategorized",
        NzbHash = "",
        AddedAt = Time(0),
    };

    private static HistoryItem Ended(string id, string name) => new()
    {
        Id = id,
        Name = name,
        NzbName = name + ".nzb",
        Category = "*",
        Folder = "uncategorized",
        Reason = nameof(FailureReason.NoMedia),
        FailMessage = "It holds nothing.",
    };

    private static DateTimeOffset Time(int seconds) => DateTimeOffset.UnixEpoch.AddSeconds(1_800_000_000 + seconds);

    private static string Text(JsonNode node, string name) => node[name]!.GetValue<string>();
}
