using Dapper;
using Microsoft.Extensions.Logging;
using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>Learned values over a database that rejects them (F38).</summary>
public sealed class LearnedWorkerTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Each_failing_store_is_named_in_the_log()
    {
        await using var database = _folder.OpenDatabase();
        using var memory = new StreamMemory(TimeProvider.System);
        var (lies, habits) = (new FileLieStore(memory, database, TimeProvider.System), new PostedHabits(new LibraryStore(database)));
        var posted = new StoredPostedFile(0, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000));
        await database.WriteAsync(connection => LibraryStore.Insert(connection, new NewRelease("tv", "Film", "hash", [posted], []), DateTimeOffset.UnixEpoch), Token);
        // A time in the future counts as new, so the row is saved again.
        await database.WriteAsync(connection => connection.Execute("INSERT INTO file_lie VALUES ('film', @at)", new { at = long.MaxValue }), Token);
        await lies.RestoreAsync(Token);
        habits.For("hash", posted).Learn(new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Never));
        await database.WriteAsync(
            connection => connection.Execute(
                """
                CREATE TRIGGER no_lie BEFORE INSERT ON file_lie BEGIN SELECT RAISE(ABORT, 'no room for lies'); END;
                CREATE TRIGGER no_habit BEFORE UPDATE ON posted_file BEGIN SELECT RAISE(ABORT, 'no room for habits'); END;
                """),
            Token);

        using var log = new CapturedLines();
        using var logs = LoggerFactory.Create(logging => logging.AddProvider(log));
        await new LearnedWorker([lies, habits], database, TimeProvider.System, logs.CreateLogger<LearnedWorker>()).FinishAsync(Token);

        Assert.Collection(
            log.Lines,
            line => Assert.Matches("Could not store files with corrupt articles: .*no room for lies", line),
            line => Assert.Matches("Could not store header fields of posted files: .*no room for habits", line));
    }
}
