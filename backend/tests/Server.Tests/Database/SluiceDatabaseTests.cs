using System.Globalization;
using Dapper;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class SluiceDatabaseTests : IDisposable
{
    private static readonly Migration Numbers = new(1, "0001_numbers.sql", "CREATE TABLE number (value INTEGER PRIMARY KEY) STRICT;");

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("PRAGMA journal_mode", "wal")]
    [InlineData("PRAGMA synchronous", "2")]
    [InlineData("PRAGMA foreign_keys", "1")]
    [InlineData("PRAGMA busy_timeout", "5000")]
    public async Task Writer_connection_has_the_required_pragmas(string pragma, string expected)
    {
        await using var database = _temporary.OpenDatabase(Numbers);

        var value = await database.WriteAsync(
            connection => Convert.ToString(connection.ExecuteScalar(pragma), CultureInfo.InvariantCulture), Token);

        Assert.Equal(expected, value);
    }

    [Fact]
    public async Task Writes_queue_in_order_until_allowed_but_reads_run()
    {
        var mayWrite = new TaskCompletionSource();
        await using var database = new SluiceDatabase(
            _temporary.Folder, new MigrationRunner([Numbers], _temporary.Folder), new SafeMode(NullLogger<SafeMode>.Instance), TimeProvider.System);
        database.Open(mayWrite.Task);
        var writes = Enumerable.Range(1, 3).Select(value => database.WriteAsync(
            connection => connection.ExecuteScalar<int>($"INSERT INTO number VALUES ({value}) RETURNING (SELECT count(*) FROM number)"), Token)).ToList();

        Assert.Equal(0, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
        Assert.DoesNotContain(writes, write => write.IsCompleted);
        mayWrite.SetResult();

        var counts = await Task.WhenAll(writes);
        Assert.Equal([1, 2, 3], counts);
    }

    [Fact]
    public async Task Damage_closes_the_database_and_leaves_its_WAL_unchanged()
    {
        var safeMode = new SafeMode(NullLogger<SafeMode>.Instance);
        byte[] damaged;
        await using (var database = new SluiceDatabase(_temporary.Folder, new MigrationRunner([Numbers], _temporary.Folder), safeMode, TimeProvider.System))
        {
            database.Open();
            await database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (1)"), Token);
            var log = _temporary.Folder.Database + "-wal";
            damaged = File.ReadAllBytes(log);
            safeMode.EnterDamaged(_temporary.Folder.Database, "test");

            await Assert.ThrowsAsync<DatabaseLostException>(() => database.ReadAsync(connection => 0, Token));
            await Assert.ThrowsAsync<DatabaseLostException>(() => database.WriteAsync(connection => 0, Token));
            Assert.False(database.IsOpen);
        }

        Assert.Equal(damaged, File.ReadAllBytes(_temporary.Folder.Database + "-wal"));
    }

    [Fact]
    public async Task Throwing_write_is_rolled_back_and_the_next_one_works()
    {
        await using var database = _temporary.OpenDatabase(Numbers);

        await Assert.ThrowsAsync<InvalidDataException>(() => database.WriteAsync<int>(
            connection =>
            {
                connection.Execute("INSERT INTO number VALUES (1)");
                throw new InvalidDataException();
            },
            Token));
        await database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (2)"), Token);

        Assert.Equal(2, await database.ReadAsync(connection => connection.QuerySingle<int>("SELECT value FROM number"), Token));
    }

    [Fact]
    public async Task Stalled_streams_hold_a_limited_number_of_connections()
    {
        var time = new ManualTimeProvider();
        await using var database = _temporary.OpenDatabase(time, Numbers);
        await database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (7)"), Token);
        var stalled = new List<IAsyncEnumerator<int>>();
        for (var i = 0; i < SluiceDatabase.MaxStreams; i++)
        {
            stalled.Add(Stream());
            Assert.True(await stalled[i].MoveNextAsync());
        }

        await using (var late = Stream())
        {
            var waiting = late.MoveNextAsync().AsTask();
            time.Advance(TimeSpan.FromSeconds(10));
            Assert.Equal(SQLitePCL.raw.SQLITE_BUSY, (await Assert.ThrowsAsync<SqliteException>(() => waiting)).SqliteErrorCode);
        }

        // Short reads continue, and a new list starts once another one has ended.
        Assert.Equal(7, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT value FROM number"), Token));
        await using (var next = Stream())
        {
            var waiting = next.MoveNextAsync().AsTask();
            await stalled[0].DisposeAsync();
            Assert.True(await waiting);
        }

        foreach (var list in stalled)
            await list.DisposeAsync();

        IAsyncEnumerator<int> Stream() =>
            database.StreamAsync(connection => connection.Query<int>("SELECT value FROM number", buffered: false), Token).GetAsyncEnumerator(Token);
    }

    [Fact]
    public async Task Waiting_writes_share_a_commit_and_fail_alone()
    {
        // The clock stands still, because on a loaded machine the time for joining a transaction could be over.
        await using var database = _temporary.OpenDatabase(new ManualTimeProvider(), Numbers);
        using var inside = new SemaphoreSlim(0);
        using var finish = new ManualResetEventSlim();
        var (commits, seen) = (0, new List<int>());
        var first = database.WriteAsync(
            connection =>
            {
                SQLitePCL.raw.sqlite3_commit_hook(((SqliteConnection)connection).Handle, _ => commits++ * 0, null);
                inside.Release();
                finish.Wait(Token);
                return connection.Execute("INSERT INTO number VALUES (0)");
            },
            Token);
        await inside.WaitAsync(Token);
        using var late = new CancellationTokenSource();
        var writes = Enumerable.Range(1, 10).Select(value => database.WriteAsync(
            connection =>
            {
                connection.Execute("INSERT INTO number VALUES (@value)", new { value });
                // Each write sees the rows of the earlier ones.
                lock (seen)
                    seen.Add(connection.ExecuteScalar<int>("SELECT count(*) FROM number"));
                return value == 5 ? throw new InvalidDataException() : connection.Execute("INSERT INTO number VALUES (@twin)", new { twin = value == 8 ? 1 : 100 + value });
            },
            value == 3 ? late.Token : Token)).ToList();
        await late.CancelAsync();

        finish.Set();
        await first;
        foreach (var (write, value) in writes.Select((write, i) => (write, i + 1)))
        {
            if (value == 3)
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => write);
            else if (value == 5)
                await Assert.ThrowsAsync<InvalidDataException>(() => write);
            else if (value == 8)
                await Assert.ThrowsAsync<SqliteException>(() => write);
            else
                Assert.Equal(1, await write);
        }

        Assert.Equal(2, commits);
        Assert.Equal([2, 4, 6, 8, 8, 10, 12, 12, 14], seen);
        var stored = await database.ReadAsync(connection => connection.Query<int>("SELECT value FROM number WHERE value < 100 ORDER BY value").ToList(), Token);
        Assert.Equal([0, 1, 2, 4, 6, 7, 9, 10], stored);
    }

    [Fact]
    public async Task Concurrent_writes_are_all_committed_and_none_is_busy()
    {
        await using var database = _temporary.OpenDatabase(Numbers);

        await Parallel.ForAsync(0, 600, Token, async (i, token) =>
        {
            await database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (@i)", new { i }), token);
        });

        Assert.Equal(600, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
    }

    [Fact]
    public async Task Read_runs_while_a_write_transaction_is_open()
    {
        await using var database = _temporary.OpenDatabase(Numbers);
        using var inside = new SemaphoreSlim(0);
        using var finish = new ManualResetEventSlim();
        var write = database.WriteAsync(
            connection =>
            {
                connection.Execute("INSERT INTO number VALUES (1)");
                inside.Release();
                finish.Wait(Token);
                return 0;
            },
            Token);
        await inside.WaitAsync(Token);

        var during = await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token);
        finish.Set();
        await write;

        Assert.Equal(0, during);
        Assert.Equal(1, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
    }

    [Fact]
    public async Task One_read_sees_one_snapshot()
    {
        await using var database = _temporary.OpenDatabase(Numbers);
        using var between = new SemaphoreSlim(0);
        using var written = new ManualResetEventSlim();
        var read = database.ReadAsync(
            connection =>
            {
                var before = connection.ExecuteScalar<int>("SELECT count(*) FROM number");
                between.Release();
                written.Wait(Token);
                return (before, after: connection.ExecuteScalar<int>("SELECT count(*) FROM number"));
            },
            Token);
        await between.WaitAsync(Token);

        await database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (1)"), Token);
        written.Set();

        Assert.Equal((0, 0), await read);
    }

    [Fact]
    public async Task Reader_cannot_write()
    {
        await using var database = _temporary.OpenDatabase(Numbers);

        await Assert.ThrowsAsync<SqliteException>(() => database.ReadAsync(connection => connection.Execute("INSERT INTO number VALUES (1)"), Token));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(255)]
    [InlineData(256)]
    [InlineData(257)]
    [InlineData(1000)]
    public async Task Stream_returns_every_row_once_and_in_order(int rows)
    {
        await using var database = _temporary.OpenDatabase(Numbers);
        await database.WriteAsync(
            connection => connection.Execute("INSERT INTO number VALUES (@i)", Enumerable.Range(1, rows).Select(i => new { i })), Token);

        var seen = new List<int>();
        await foreach (var value in database.StreamAsync(
            connection => connection.Query<int>("SELECT value FROM number ORDER BY value", buffered: false), Token))
        {
            seen.Add(value);
        }

        Assert.Equal(Enumerable.Range(1, rows), seen);
    }

    [Fact]
    public async Task Abandoned_stream_does_not_block_later_writes()
    {
        await using var database = _temporary.OpenDatabase(Numbers);
        await database.WriteAsync(
            connection => connection.Execute("INSERT INTO number VALUES (@i)", Enumerable.Range(1, 600).Select(i => new { i })), Token);

        await foreach (var value in database.StreamAsync(
            connection => connection.Query<int>("SELECT value FROM number ORDER BY value", buffered: false), Token))
        {
            if (value == 300)
                break;
        }

        await database.WriteAsync(connection => connection.Execute("DELETE FROM number"), Token);
        Assert.Equal(0, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
    }

    [Fact]
    public async Task Write_canceled_before_its_turn_never_runs()
    {
        await using var database = _temporary.OpenDatabase(Numbers);
        using var inside = new SemaphoreSlim(0);
        using var finish = new ManualResetEventSlim();
        using var cancellation = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var first = database.WriteAsync(
            _ =>
            {
                inside.Release();
                finish.Wait(Token);
                return 0;
            },
            Token);
        await inside.WaitAsync(Token);
        var second = database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (1)"), cancellation.Token);

        await cancellation.CancelAsync();
        finish.Set();

        await first;
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second);
        Assert.Equal(0, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
    }

    [Fact]
    public async Task Dispose_commits_queued_writes()
    {
        var database = _temporary.OpenDatabase(Numbers);
        var writes = Enumerable.Range(0, 50)
            .Select(i => database.WriteAsync(connection => connection.Execute("INSERT INTO number VALUES (@i)", new { i }), Token))
            .ToArray();

        await database.DisposeAsync();
        await Task.WhenAll(writes);

        await using var again = _temporary.OpenDatabase(Numbers);
        Assert.Equal(50, await again.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM number"), Token));
    }
}
