using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class QueueStoreTests : IDisposable
{
    private static readonly DateTimeOffset Time = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Stored_item_is_read_back_unchanged()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueStore(database);
        var item = Item("a") with { Password = "pw", Script = "s", PostProcessing = 2, Priority = QueuePriority.High, Paused = true };

        await database.InsertAsync(QueueStore.Insert, item);
        var measure = new PostMeasure(5_000_000_000, Time.AddDays(-3), 3, 7_000);
        await store.SetPostAsync("a", item.NzbHash, measure, Token);
        await store.SetPostAsync("a", "hash of an NZB before", PostMeasure.Nothing, Token);

        Assert.Equal(item.With(measure), await store.FindAsync("a", Token));
    }

    [Fact]
    public async Task Finish_removes_an_item_unless_it_is_paused()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueStore(database);
        await database.InsertAsync(QueueStore.Insert, Item("a"));
        await store.SetPausedAsync(["a"], true, Token);
        Assert.Null(await database.WriteAsync(connection => QueueStore.Finish(connection, "a"), Token));

        await store.SetPausedAsync(["a"], false, Token);
        Assert.Equal("a", (await database.WriteAsync(connection => QueueStore.Finish(connection, "a"), Token))?.Id);
        Assert.Null(await store.FindAsync("a", Token));
    }

    [Fact]
    public async Task Items_are_ordered_by_priority_then_arrival()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueStore(database);
        await database.InsertAsync(
            QueueStore.Insert,
            Item("low") with { Priority = QueuePriority.Low },
            Item("first"),
            Item("force") with { Priority = QueuePriority.Force },
            Item("second"));

        var all = await store.StreamAsync(new QueueFilter(), 0, 0, Token).ToListAsync(Token);
        var page = await store.StreamAsync(new QueueFilter { Ids = ["second", "low", "first"] }, 1, 1, Token).ToListAsync(Token);

        Assert.Equal(["force", "first", "second", "low"], all.Select(item => item.Id));
        Assert.Equal([0, 1, 2, 3], all.Select(item => item.Index));
        Assert.Equal(("second", 2), (page.Single().Id, page.Single().Index));
    }

    [Fact]
    public async Task Next_item_is_the_first_not_paused_or_skipped()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueStore(database);
        await database.InsertAsync(QueueStore.Insert, Item("paused") with { Paused = true, Priority = QueuePriority.Force }, Item("running"), Item("next"), Item("last"));

        Assert.Equal("next", await store.FindNextAsync(QueuePriority.Low, id => id == "running", Token));
        Assert.Null(await store.FindNextAsync(QueuePriority.Low, _ => true, Token));
        Assert.Null(await store.FindNextAsync(QueuePriority.Force, _ => false, Token));
    }

    [Fact]
    public async Task Filter_and_totals_agree()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueStore(database);
        await database.InsertAsync(
            QueueStore.Insert,
            Item("1") with { Category = "tv", EncodedBytes = 10 },
            Item("2") with { Priority = QueuePriority.High, EncodedBytes = 20 },
            Item("3") with { Paused = true, EncodedBytes = 30 });

        Assert.Equal(("1", new QueueTotals(3, 1, 60)), await ListAsync(new QueueFilter { Categories = ["tv"] }));
        Assert.Equal(("1", new QueueTotals(3, 1, 60)), await ListAsync(new QueueFilter { Categories = ["TV", "Übung"] }));
        Assert.Equal(("2", new QueueTotals(3, 1, 60)), await ListAsync(new QueueFilter { Priorities = [QueuePriority.High] }));
        Assert.Equal(("2", new QueueTotals(3, 1, 60)), await ListAsync(new QueueFilter { Search = "RELEASE 2" }));
        Assert.Equal(("2 1 3", new QueueTotals(3, 3, 60)), await ListAsync(new QueueFilter()));
        Assert.Equal(("3", new QueueTotals(3, 1, 60)), await ListAsync(State([], ["2"], paused: true, queued: false)));
        Assert.Equal(("2 1", new QueueTotals(3, 2, 60)), await ListAsync(State(["2"], ["2"], paused: false, queued: true)));
        Assert.Equal(("1", new QueueTotals(3, 1, 60)), await ListAsync(State([], ["2"], paused: false, queued: true)));

        static QueueFilter State(string[] running, string[] all, bool paused, bool queued) =>
            new() { State = new QueueStateFilter(running, all, paused, queued) };

        async Task<(string, QueueTotals)> ListAsync(QueueFilter filter) =>
            (string.Join(' ', await store.StreamAsync(filter, 0, 0, Token).Select(item => item.Id).ToListAsync(Token)),
                await store.GetTotalsAsync(filter, Token));
    }

    [Fact]
    public async Task File_is_found_by_folder_and_name()
    {
        await using var database = _temporary.OpenDatabase();
        var store = new QueueFileStore(database);
        await database.InsertAsync(QueueStore.Insert, Item("b") with { Folder = "tv" }, Item("a") with { Folder = "tv" }, Item("c"));

        Assert.Equal(("hash", 99), await store.FindAsync("tv", "Release b.nzb", Token) is { } file ? (file.Hash, file.Length) : default);
        Assert.Null(await store.FindAsync("tv", "Release c.nzb", Token));
        Assert.Equal(["tv", "uncategorized"], await store.ListFoldersAsync(Token));
        Assert.Equal(["Release a.nzb", "Release b.nzb"], await store.ListAsync("tv", Token).Select(item => item.Name).ToListAsync(Token));
    }

    private static QueueItem Item(string id) => new()
    {
        Id = id,
        Name = "Release " + id,
        NzbName = id + ".nzb",
        Category = "*",
        Folder = "uncategorized",
        NzbHash = "hash",
        NzbLength = 99,
        AddedAt = Time,
    };
}
