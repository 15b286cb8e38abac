using Dapper;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.History;

public sealed class HistoryStoreTests : IDisposable
{
    private static readonly DateTimeOffset Time = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Stored_item_is_read_back_unchanged()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new HistoryStore(database);
        var item = Item("a", "Rel") with
        {
            Password = "pw",
            Script = "s",
            PostProcessing = 3,
            Priority = 1,
            Reason = nameof(FailureReason.NzbEmpty),
            FailMessage = ImportFailure.NzbEmpty().Sentence,
            Steps = [new StepTiming("ReadNzb", 12, "3 files")],
        };

        await database.InsertAsync(HistoryStore.Insert, item);

        var found = await store.FindAsync("a", Token);
        Assert.Equal(item.Steps, found!.Steps);
        Assert.Equal(item with { Number = 1 }, found with { Steps = item.Steps });
        Assert.Null(await store.FindAsync("b", Token));
    }

    [Fact]
    public async Task Listing_is_newest_first_and_filtered()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new HistoryStore(database);
        await database.InsertAsync(
            HistoryStore.Insert,
            Item("1", "Älpha One"),
            Item("2", "Beta") with { Category = "tv" },
            Item("3", "älpha Two") with { Reason = nameof(FailureReason.NzbEmpty) },
            Item("4", "Gamma") with { Category = "tv" });

        Assert.Equal("4 3 2 1", await ListAsync(new HistoryFilter()));
        Assert.Equal("3 2", await ListAsync(new HistoryFilter(), 1, 2));
        Assert.Equal("3 1", await ListAsync(new HistoryFilter { Search = "äLPHA" }));
        Assert.Equal("4 2", await ListAsync(new HistoryFilter { Categories = ["tv", "x"] }));
        Assert.Equal("4 2", await ListAsync(new HistoryFilter { Categories = ["TV"] }));
        Assert.Equal("4 2", await ListAsync(new HistoryFilter { Categories = ["tV", "\u00e4"] }));
        Assert.Equal("3", await ListAsync(new HistoryFilter { Completed = false }));
        Assert.Equal("4 2 1", await ListAsync(new HistoryFilter { Completed = true }));
        Assert.Equal("2 1", await ListAsync(new HistoryFilter { Ids = ["2", "1", "9"] }));
        Assert.Equal("", await ListAsync(new HistoryFilter { Nothing = true }));
        Assert.Equal(2, (await store.FindPageAsync(new HistoryFilter { Search = "Älpha" }, 1, 1, Token)).Matches);
        Assert.Equal(2, (await store.FindPageAsync(new HistoryFilter { Search = "Älpha" }, 7, 1, Token)).Matches);
        Assert.Equal(4, (await store.FindPageAsync(new HistoryFilter(), 7, 1, Token)).Matches);

        async Task<string> ListAsync(HistoryFilter filter, int start = 0, int limit = 10)
        {
            var page = await store.FindPageAsync(filter, start, limit, Token);
            return string.Join(' ', await store.StreamAsync(page, Token).Select(item => item.Id).ToListAsync(Token));
        }
    }

    [Theory]
    [InlineData("show", "1 2 4")]
    [InlineData("SHOW 1", "1 2")]
    [InlineData("0%", "2")]
    [InlineData("_", "4")]
    [InlineData("\\", "3")]
    [InlineData("\0", "")]
    [InlineData("\u00c9T\u00c9", "3")]
    [InlineData("\u00e9", "3")]
    [InlineData("\u017fhow", "")]
    public async Task Search_treats_wildcards_as_literal_characters(string part, string expected)
    {
        await using var database = _temporary.OpenDatabase();
        var store = new HistoryStore(database);
        await database.InsertAsync(HistoryStore.Insert, Item("1", "Show 1"), Item("2", "Show 100%"), Item("3", "\u00c9t\u00e9 \\ 1"), Item("4", "a_show"));

        var page = await store.FindPageAsync(new HistoryFilter { Search = part }, 0, 10, Token);

        Assert.Equal(expected, string.Join(' ', await store.StreamAsync(page, Token).Select(item => item.Id).Order().ToListAsync(Token)));
    }

    [Fact]
    public async Task Page_query_uses_the_covering_index()
    {
        await using var database = _temporary.OpenDatabase();
        HistoryFilter[] filters =
        [
            new(), new() { Search = "a" }, new() { Search = "\u00e9" }, new() { Categories = ["tv"] }, new() { Categories = ["\u00e9"] }, new() { Completed = false },
            new() { Completed = true }, new() { Categories = ["tv"], Completed = true, Search = "a" },
        ];
        foreach (var filter in filters)
        {
            var (where, values) = HistoryStore.Conditions(filter, 0, 100);
            var plan = await database.ExplainAsync(HistoryStore.PageSql(where, values.Search is not null), values);

            Assert.Contains(plan, step => step.Contains("history_item USING COVERING INDEX history_item_shown", StringComparison.Ordinal));
            Assert.DoesNotContain(plan, step => step is "SCAN history_item");
        }
    }

    [Theory]
    [InlineData(0, 60)]
    [InlineData(10, 5)]
    [InlineData(100, 5)]
    [InlineData(0, 0)]
    public async Task Page_is_correct_with_archived_rows_in_between(int start, int limit)
    {
        await using var database = _temporary.OpenDatabase();
        var store = new HistoryStore(database);
        var items = Enumerable.Range(0, 50).Select(i => Item($"{i}", $"n{i}")).ToArray();
        await database.InsertAsync(HistoryStore.Insert, items);

        foreach (var gone in new[] { "number % 5 = 0", "number % 7 <> 0" })
        {
            await database.WriteAsync(connection => connection.Execute($"UPDATE history_item SET archived = 1 WHERE {gone}"), Token);
            foreach (var archived in new[] { false, true })
            {
                var expected = await database.ReadAsync(
                    connection => connection.Query<string>("SELECT id FROM history_item WHERE archived = @archived ORDER BY number DESC", new { archived }).ToList(), Token);
                var page = await store.FindPageAsync(new HistoryFilter { Archived = archived }, start, limit, Token);

                Assert.Equal(expected.Count, page.Matches);
                Assert.Equal(expected.Skip(start).Take(limit), await store.StreamAsync(page, Token).Select(item => item.Id).ToListAsync(Token));
            }
        }
    }

    [Fact]
    public async Task Item_removed_after_paging_is_left_out()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new HistoryStore(database);
        await database.InsertAsync(HistoryStore.Insert, Item("1", "a"), Item("2", "b"));
        var page = await store.FindPageAsync(new HistoryFilter(), 0, 10, Token);

        await database.WriteAsync(connection => connection.Execute("DELETE FROM history_item WHERE id = '1'"), Token);

        Assert.Equal("2", (await store.StreamAsync(page, Token).SingleAsync(Token)).Id);
    }

    [Fact]
    public async Task Change_counter_grows_per_item_and_survives_a_restart()
    {
        await using (var database = _temporary.OpenDatabase())
        {
            var store = new HistoryStore(database);
            Assert.Equal(0, await store.CountChangesAsync(Token));
            await database.InsertAsync(HistoryStore.Insert, Item("1", "a"), Item("2", "b"));
            Assert.Equal(2, await store.CountChangesAsync(Token));
        }

        await using (var database = _temporary.OpenDatabase())
            Assert.Equal(2, await new HistoryStore(database).CountChangesAsync(Token));
    }

    private static HistoryItem Item(string id, string name) => new()
    {
        Id = id,
        Name = name,
        NzbName = name + ".nzb",
        Category = "*",
        Folder = "uncategorized",
        NzbHash = "hash",
        EncodedBytes = 17,
        Bytes = 16,
        AddedAt = Time,
        StartedAt = Time.AddSeconds(1),
        CompletedAt = Time.AddSeconds(3),
    };
}
