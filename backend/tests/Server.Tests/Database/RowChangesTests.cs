using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class RowChangesTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Row_changes_are_reported_after_commit()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var database = host.Get<SluiceDatabase>();
        using var watched = host.Get<EventFeed>().Subscribe();

        await WriteAsync("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', 'A', '', 0), ('tv', 'B', '', 0)");
        await WriteAsync("UPDATE release SET name = 'C' WHERE name = 'A'");
        await WriteAsync("UPDATE release SET published_at = 1 WHERE name = 'C'");
        await WriteAsync("DELETE FROM release WHERE name = 'B'");
        await WriteAsync("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', 'D', '', 0); DELETE FROM release WHERE name = 'D'");
        await Assert.ThrowsAnyAsync<Exception>(() => WriteAsync("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', 'E', '', 0); SELECT nothing"));
        await WriteAsync("UPDATE release SET published_at = 2 WHERE name = 'nobody'");

        watched.Dispose();
        var told = await watched.Events.ReadAllAsync(Token).OfType<ReleasesChanged>().Select(happened => $"{string.Join(' ', happened.Changed!)}|{string.Join(' ', happened.Removed!)}").ToListAsync(Token);
        Assert.Equal(["tv/A tv/B|", "tv/C|tv/A", "tv/C|", "|tv/B", "|tv/D"], told);

        Task WriteAsync(string sql) => database.WriteAsync(connection => connection.Execute(sql), Token);
    }

    [Fact]
    public async Task Rolled_back_write_is_not_reported()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var database = host.Get<SluiceDatabase>();
        using var watched = host.Get<EventFeed>().Subscribe();
        var writes = Enumerable.Range(0, 40)
            .Select(i => database.WriteAsync(
                connection =>
                {
                    connection.Execute("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', @name, '', 0)", new { name = $"R{i}" });
                    return i % 2 == 0 ? true : throw new InvalidOperationException();
                },
                Token))
            .ToList();

        foreach (var (write, i) in writes.Select((write, i) => (write, i)))
        {
            if (i % 2 == 0)
                await write;
            else
                await Assert.ThrowsAsync<InvalidOperationException>(() => write);
        }

        watched.Dispose();
        var told = await watched.Events.ReadAllAsync(Token).OfType<ReleasesChanged>().SelectMany(happened => happened.Changed!.ToAsyncEnumerable()).ToListAsync(Token);
        Assert.Equal(Enumerable.Range(0, 20).Select(i => $"tv/R{2 * i}"), told);
    }

    [Fact]
    public async Task Queue_history_and_pause_changes_are_reported()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        await host.CallAsync("mode=pause", Token);
        using var watched = host.Get<EventFeed>().Subscribe();

        var id = (await host.AddAsync(NzbText.Of("a.mkv"), "A.nzb", Token))[0];
        await host.CallAsync($"mode=queue&name=rename&value={id}&value2=B", Token);
        await host.CallAsync($"mode=queue&name=delete&value={id}", Token);
        var odd = (await host.AddAsync(NzbText.DamagedZip(), "Odd.nzb", Token))[0];
        await host.CallAsync($"mode=history&name=delete&archive=0&value={odd}", Token);
        await host.Get<HistoryRemoval>().RemoveAsync([(await host.Get<HistoryStore>().FindAsync(odd, Token))!.Number], Token);
        await host.CallAsync("mode=resume", Token);

        watched.Dispose();
        var told = await watched.Events.ReadAllAsync(Token).Select(Describe).Where(text => text is not null).Distinct().ToListAsync(Token);
        Assert.Equal([$"queue +{id}", $"queue -{id}", $"history +{odd}", $"history -{odd}", "pause False"], told);

        static string? Describe(LiveEvent happened) => happened switch
        {
            QueueItemsChanged { Changed: [var changed] } => $"queue +{changed}",
            QueueItemsChanged { Removed: [var removed] } => $"queue -{removed}",
            HistoryItemsChanged { Changed: [var changed] } => $"history +{changed}",
            HistoryItemsChanged { Removed: [var removed] } => $"history -{removed}",
            QueuePauseChanged pause => $"pause {pause.IsPaused}",
            _ => null,
        };
    }

    [Fact]
    public async Task Changes_above_the_name_limit_are_reported_without_names()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var watched = host.Get<EventFeed>().Subscribe();

        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                for (var i = 0; i <= RowsEvent.MostNamed; i++)
                    connection.Execute("INSERT INTO release (category, name, nzb_hash, published_at) VALUES ('tv', @name, '', 0)", new { name = $"R{i}" });
                return true;
            },
            Token);

        watched.Dispose();
        Assert.Null(Assert.Single(await watched.Events.ReadAllAsync(Token).OfType<ReleasesChanged>().ToListAsync(Token)).Changed);
    }
}
