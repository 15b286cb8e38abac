using System.Diagnostics.CodeAnalysis;
using Dapper;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>Schedule of the complete database check (F32).</summary>
public sealed class IntegrityWorkerTests : IDisposable
{
    private static readonly TimeSpan Round = TimeSpan.FromHours(1);
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(1);

    private readonly TemporaryFolder _temporary = new();
    private readonly ManualTimeProvider _clock = new();

    public void Dispose() => _temporary.Dispose();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Path => _temporary.Folder.Database;

    [Theory]
    [InlineData("nothing", false)]
    [InlineData("almost a week", false)]
    [InlineData("a week", true)]
    [InlineData("a clock that was set back", true)]
    [InlineData("a clock that was set two years ahead", true)]
    [InlineData("another time of the file", true)]
    [InlineData("another length of the file", true)]
    [InlineData("another counter of changes", true)]
    [InlineData("a log beside the file", true)]
    [InlineData("a stop that was not clean", true)]
    public async Task F32_Startup_skips_the_check_after_a_recent_clean_shutdown(string since, bool isChecked)
    {
        var first = await StartAsync();
        var soundAt = first.CheckedAt;
        Assert.Equal(_clock.GetUtcNow(), soundAt);
        _clock.Advance(TimeSpan.FromHours(2));
        await first.StopAsync(isClean: since != "a stop that was not clean");
        Happen(since, soundAt!.Value);

        var second = await StartAsync();

        Assert.Equal(isChecked ? _clock.GetUtcNow() : soundAt, second.CheckedAt);
        await second.StopAsync();
    }

    [Fact]
    public async Task F32_Inner_damage_is_found_by_the_weekly_check()
    {
        var first = await StartAsync();
        _clock.Advance(TimeSpan.FromHours(2));
        await first.StopAsync();
        var page = RootPage("release");
        Write((page - 1) * 4096, new byte[4096]);

        var second = await StartAsync();

        Assert.False(second.SafeMode.IsOn);
        var rounds = 0;
        for (; !second.SafeMode.IsOn && rounds < 1_000; rounds++)
        {
            _clock.Advance(Round);
            await EventuallyAsync(() => second.SafeMode.IsOn || _clock.Waiting > 0);
        }

        Assert.Equal((7 * 24) - 2, rounds);
        await second.StopAsync();
    }

    [Fact]
    public async Task F42_Row_numbers_of_accepted_NZBs_are_saved_with_the_blobs()
    {
        var run = await StartAsync();
        Assert.Equal(new RowNumbers(0, 0), BlobGeneration.Read(_temporary.Folder)!.Numbers);
        // The time limit of the first check, and the pause until the next one.
        await EventuallyAsync(() => _clock.Waiting == 2);
        await run.AcceptAsync("first");
        await EventuallyAsync(() => BlobGeneration.Read(_temporary.Folder)!.Numbers == new RowNumbers(1, 0));
        await run.AcceptAsync("second");
        await run.AcceptAsync("third");
        await EventuallyAsync(() => _clock.Waiting == 3);
        Assert.Equal(new RowNumbers(1, 0), BlobGeneration.Read(_temporary.Folder)!.Numbers);

        _clock.Advance(AcceptedWorker.Pause);

        await EventuallyAsync(() => BlobGeneration.Read(_temporary.Folder)!.Numbers == new RowNumbers(3, 0));
        await run.StopAsync(isClean: false);
    }

    [Fact]
    public async Task F42_Concurrent_records_of_row_numbers_never_collide()
    {
        var run = await StartAsync();
        for (var i = 1; i <= 50; i++)
        {
            await run.AcceptAsync($"number {i}");
            // The worker and the final record write concurrently, as in a shutdown that has exceeded its deadline.
            await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(run.NoteNumbersAsync, Token)));
            Assert.Equal(new RowNumbers(i, 0), BlobGeneration.Read(_temporary.Folder)!.Numbers);
        }

        Assert.Empty(run.OpeningLines);
        await run.StopAsync();
    }

    /// <summary>Simulates an event between two starts.</summary>
    private void Happen(string since, DateTimeOffset soundAt)
    {
        switch (since)
        {
            case "almost a week":
                _clock.Advance(soundAt + TimeSpan.FromDays(7) - Moment - _clock.GetUtcNow());
                break;
            case "a week":
                _clock.Advance(soundAt + TimeSpan.FromDays(7) - _clock.GetUtcNow());
                break;
            case "a clock that was set back":
                _clock.SetWallClock(-TimeSpan.FromHours(3));
                break;
            case "a clock that was set two years ahead":
                _clock.SetWallClock(TimeSpan.FromDays(730));
                break;
            case "another time of the file":
                File.SetLastWriteTimeUtc(Path, File.GetLastWriteTimeUtc(Path).AddSeconds(1));
                break;
            case "another length of the file":
                Write(new FileInfo(Path).Length, new byte[4096]);
                break;
            case "another counter of changes":
                Write(24, [9, 9, 9, 9]);
                break;
            case "a log beside the file":
                File.WriteAllBytes(Path + "-wal", new byte[4096]);
                break;
        }
    }

    /// <summary>Writes into the file and restores its time.</summary>
    private void Write(long at, byte[] bytes)
    {
        var time = File.GetLastWriteTimeUtc(Path);
        using (var file = new FileStream(Path, FileMode.Open, FileAccess.Write))
        {
            file.Position = at;
            file.Write(bytes);
        }

        File.SetLastWriteTimeUtc(Path, time);
    }

    private int RootPage(string table)
    {
        // Opened as immutable, because SQLite would otherwise change the marks of the file.
        using var connection = new SqliteConnection($"Data Source=file:{Path}?immutable=1;Mode=ReadOnly;Pooling=False");
        connection.Open();
        return connection.ExecuteScalar<int>("SELECT rootpage FROM sqlite_schema WHERE name = @table", new { table });
    }

    private static async Task EventuallyAsync(Func<bool> holds)
    {
        for (var tries = 0; !holds(); tries++)
        {
            Assert.True(tries < 5_000, "nothing happens");
            await Task.Delay(Moment, TimeProvider.System, Token);
        }
    }

    private async Task<Run> StartAsync()
    {
        var run = new Run(_temporary.Folder, _clock);
        await run.MayWrite.WaitAsync(TimeSpan.FromMinutes(1), TimeProvider.System, Token);
        await run.Noting;
        return run;
    }

    /// <summary>The database part of a start, until its stop.</summary>
    [SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "StopAsync disposes of them.")]
    private sealed class Run
    {
        private readonly CancellationTokenSource _stopping = new();
        private readonly CapturedLines _lines = new();
        private readonly LoggerFactory _loggers;
        private readonly DatabaseOpening _opening;
        private readonly IntegrityWorker _worker;
        private readonly Task _running;

        public Run(DataFolder folder, TimeProvider time)
        {
            _loggers = new LoggerFactory([_lines]);
            var runner = new MigrationRunner(Migration.LoadEmbedded(), folder);
            var quarantine = new BlobQuarantine(folder, time);
            var blobs = new BlobStore(folder, new DiskBlobFiles(), quarantine, time);
            SafeMode = new SafeMode(NullLogger<SafeMode>.Instance);
            var accepted = new AcceptedSignal(time);
            Database = new SluiceDatabase(folder, runner, SafeMode, time, state: null, [accepted.Table]);
            _opening = new DatabaseOpening(folder, Database, runner, [], blobs, SafeMode, _loggers.CreateLogger<DatabaseOpening>());
            _worker = new IntegrityWorker(Database, blobs, quarantine, [], SafeMode, time, NullLogger<IntegrityWorker>.Instance);
            var opened = _opening.Open(accept: null, MayWrite);
            Assert.NotNull(opened);
            Noting = opened.Noting;
            _worker.Begin(opened);
            _running = Task.WhenAll(_worker.RunAsync(_stopping.Token), new AcceptedWorker(_opening, accepted, time).RunAsync(_stopping.Token));
        }

        public SafeMode SafeMode { get; }

        public SluiceDatabase Database { get; }

        public Task Noting { get; }

        public Task MayWrite => _worker.MayWrite;

        public IReadOnlyCollection<string> OpeningLines => _lines.Lines;

        public DateTimeOffset? CheckedAt => _worker.CheckedAt;

        public Task NoteNumbersAsync() => _opening.NoteNumbersAsync(Token);

        public Task<int> AcceptAsync(string name) => Database.WriteAsync(
            connection => connection.Execute(
                "INSERT INTO queue_file (folder, name, hash, length, packed, added_at, properties) VALUES ('movies', @name, '', 1, 0, 0, '')", new { name }),
            Token);

        public async Task StopAsync(bool isClean = true)
        {
            await _stopping.CancelAsync();
            try
            {
                await _running;
            }
            catch (OperationCanceledException)
            {
                // The worker was canceled during a check or between two.
            }

            _worker.Dispose();
            await Database.CloseAsync();
            if (isClean && CheckedAt is { } checkedAt)
                _opening.NoteClosed(checkedAt);
            _loggers.Dispose();
            _stopping.Dispose();
        }
    }
}
