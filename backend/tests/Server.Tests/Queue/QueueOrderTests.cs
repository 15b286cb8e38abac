using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Items are listed and imported by priority, and within a priority in the order that clients choose (SAB-37).</summary>
public sealed class QueueOrderTests : IDisposable
{
    private static readonly DateTimeOffset Time = new(2026, 1, 3, 10, 0, 0, TimeSpan.Zero);

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Priority_change_puts_an_item_last_in_its_new_priority()
    {
        await using var database = await OpenAsync("H1 H2 N1 N2 L1");
        var order = new QueueOrderStore(database);

        Assert.Equal(new QueuePlace(2, QueuePriority.High), await order.SetPriorityAsync(["N1"], QueuePriority.High, Token));
        Assert.Equal("H1 H2 N1 N2 L1", await ListAsync(database));
        Assert.Equal(new QueuePlace(0, QueuePriority.Force), await order.SetPriorityAsync(["L1"], QueuePriority.Force, Token));
        Assert.Equal("L1 H1 H2 N1 N2", await ListAsync(database));
        Assert.Equal(new QueuePlace(4, QueuePriority.Normal), await order.SetPriorityAsync(["H1", "gone", "H2"], QueuePriority.Normal, Token));
        Assert.Equal("L1 N1 N2 H1 H2", await ListAsync(database));
        Assert.Null(await order.SetPriorityAsync(["H1", "gone"], QueuePriority.Normal, Token));
        Assert.Equal(new QueuePlace(2, QueuePriority.Normal), await order.SetPriorityAsync(["N2"], null, Token));
        Assert.Equal("L1 N1 N2 H1 H2", await ListAsync(database));
    }

    [Theory]
    [InlineData("N4", "N1", "N4 N1 N2 N3 N5", 0)]
    [InlineData("N1", "N4", "N2 N3 N4 N1 N5", 3)]
    [InlineData("N2", "N3", "N1 N3 N2 N4 N5", 2)]
    [InlineData("N3", "N2", "N1 N3 N2 N4 N5", 1)]
    [InlineData("N1", "N5", "N2 N3 N4 N5 N1", 4)]
    public async Task Moved_item_takes_the_position_of_the_target(string item, string target, string expected, int index)
    {
        await using var database = await OpenAsync("N1 N2 N3 N4 N5");

        Assert.Equal(new QueuePlace(index, QueuePriority.Normal), await MoveAsync(database, item, target));

        Assert.Equal(expected, await ListAsync(database));
        // A new item is still appended at the end.
        await database.InsertAsync(QueueStore.Insert, Item("N6"));
        Assert.EndsWith("N6", await ListAsync(database), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("N2", "H1", "N2 H1 H2 N1 L1", 0, QueuePriority.High)]
    [InlineData("N2", "H2", "H1 N2 H2 N1 L1", 1, QueuePriority.High)]
    [InlineData("H1", "N1", "H2 N1 H1 N2 L1", 2, QueuePriority.Normal)]
    [InlineData("H1", "N2", "H2 N1 N2 H1 L1", 3, QueuePriority.Normal)]
    [InlineData("H2", "L1", "H1 N1 N2 L1 H2", 4, QueuePriority.Low)]
    [InlineData("L1", "N1", "H1 H2 L1 N1 N2", 2, QueuePriority.Normal)]
    public async Task Moved_item_takes_the_priority_of_the_target(string item, string target, string expected, int index, object priority)
    {
        await using var database = await OpenAsync("H1 H2 N1 N2 L1");

        Assert.Equal(new QueuePlace(index, (QueuePriority)priority), await MoveAsync(database, item, target));

        Assert.Equal(expected, await ListAsync(database));
    }

    [Theory]
    [InlineData("N5", "N1", "N1 N2 N5 N3 N4", 2)]
    [InlineData("N4", "N1", "N1 N2 N3 N4 N5", 3)]
    [InlineData("N3", "N2", "N1 N2 N3 N4 N5", 2)]
    [InlineData("N1", "N4", "N1 N2 N3 N4 N5", 0)]
    [InlineData("N5", "N4", "N1 N2 N3 N5 N4", 3)]
    public async Task Running_items_keep_the_front_of_the_queue(string item, string target, string expected, int index)
    {
        await using var database = await OpenAsync("N1 N2 N3 N4 N5");

        // N4 runs too, but after a waiting item, so it is not part of the front.
        Assert.Equal(new QueuePlace(index, QueuePriority.Normal), await MoveAsync(database, item, target, "N1", "N2", "N4"));

        Assert.Equal(expected, await ListAsync(database));
    }

    [Fact]
    public async Task Item_moved_to_another_priority_stays_behind_running_ones()
    {
        await using var database = await OpenAsync("H1 H2 N1 N2 L1");

        Assert.Equal(new QueuePlace(2, QueuePriority.Normal), await MoveAsync(database, "H2", "N1", "N1"));
        Assert.Equal("H1 N1 H2 N2 L1", await ListAsync(database));
        Assert.Equal(new QueuePlace(2, QueuePriority.Normal), await MoveAsync(database, "L1", "N1", "N1"));
        Assert.Equal("H1 N1 L1 H2 N2", await ListAsync(database));
    }

    [Fact]
    public async Task Move_to_a_missing_target_or_itself_does_nothing()
    {
        await using var database = await OpenAsync("N1 N2");

        Assert.Null(await MoveAsync(database, "N1", "gone"));
        Assert.Null(await MoveAsync(database, "gone", "N1"));
        Assert.Null(await MoveAsync(database, "N1", "N1"));

        Assert.Equal("N1 N2", await ListAsync(database));
        Assert.Equal("N2", await database.ReadAsync(connection => QueueOrderStore.FindAt(connection, 1), Token));
        Assert.Null(await database.ReadAsync(connection => QueueOrderStore.FindAt(connection, 2), Token));
    }

    [Fact]
    public async Task Sort_is_stable_and_stays_within_priorities()
    {
        await using var database = _temporary.OpenDatabase();
        await database.InsertAsync(
            QueueStore.Insert,
            Item("N1") with { Name = "b", EncodedBytes = 20, PostedAt = Time.AddDays(-2) },
            Item("N2") with { Name = "A", EncodedBytes = 30, PostedAt = Time.AddDays(-1) },
            Item("N3") with { Name = "c", EncodedBytes = 10 },
            Item("N4") with { Name = "D", EncodedBytes = 30, PostedAt = Time.AddDays(-3) },
            Item("H1") with { Name = "z", EncodedBytes = 90, Priority = QueuePriority.High });

        Assert.Equal("H1 N2 N1 N3 N4", await SortAsync(QueueSortKey.Name, false));
        Assert.Equal("H1 N4 N3 N1 N2", await SortAsync(QueueSortKey.Name, true));
        Assert.Equal("H1 N3 N1 N4 N2", await SortAsync(QueueSortKey.Size, false));
        Assert.Equal("H1 N4 N2 N1 N3", await SortAsync(QueueSortKey.Size, true));
        Assert.Equal("H1 N2 N1 N4 N3", await SortAsync(QueueSortKey.Age, false));
        Assert.Equal("H1 N3 N4 N1 N2", await SortAsync(QueueSortKey.Age, true));
        Assert.Equal("H1 N1 N4 N3 N2", await SortAsync(QueueSortKey.Remaining, false, "N1", "N4"));
        Assert.Equal("H1 N3 N2 N4 N1", await SortAsync(QueueSortKey.Remaining, true, "N1", "N4"));

        async Task<string> SortAsync(QueueSortKey key, bool descending, params string[] running)
        {
            await new QueueOrderStore(database).SortAsync(key, descending, running, Token);
            return await ListAsync(database);
        }
    }

    private static Task<QueuePlace?> MoveAsync(SluiceDatabase database, string item, string target, params string[] running) =>
        new QueueOrderStore(database).MoveAsync(item, _ => target, running, Token);

    private static async Task<string> ListAsync(SluiceDatabase database) =>
        string.Join(' ', await new QueueStore(database).StreamAsync(new QueueFilter(), 0, 0, Token).Select(item => item.Id).ToListAsync(Token));

    /// <summary>Creates a queue of items whose names begin with their priorities.</summary>
    private async Task<SluiceDatabase> OpenAsync(string ids)
    {
        var database = _temporary.OpenDatabase();
        await database.InsertAsync(QueueStore.Insert, ids.Split(' ').Select(Item));
        return database;
    }

    private static QueueItem Item(string id) => new()
    {
        Id = id,
        Name = id,
        NzbName = id + ".nzb",
        Category = "*",
        Folder = "uncategorized",
        NzbHash = "hash",
        Priority = id[0] switch
        {
            'H' => QueuePriority.High,
            'L' => QueuePriority.Low,
            _ => QueuePriority.Normal,
        },
        AddedAt = Time,
    };
}
