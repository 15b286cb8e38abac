using System.Text;
using Dapper;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Server.Tests.Outbound;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>The background worker that opens releases of an old server and remaps releases with a wrong map (IMP-36, IMP-52).</summary>
public sealed class RemappingWorkerTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Opening_checks_a_sample_even_if_imports_check_all()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, null, ("SLUICE_CONFIG__API__ENSURE_ARTICLE_EXISTENCE_CATEGORIES", "*"));
        var release = await AddAsync(host, "Film", articles: 400, partSize: 2_000);
        var before = mock.Stats.CommandCount("STAT");
        Assert.InRange(before, 400, int.MaxValue);

        await CloseAsync(host, release);
        while (await WaitingAsync(host) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.InRange(mock.Stats.CommandCount("STAT") - before, 1, AvailabilitySample.MaxArticles);
    }

    [Fact]
    public async Task Playback_interrupts_the_opening_of_another_release()
    {
        await using var mock = await MockServer.StartAsync();
        var holds = false;
        var gate = new GateStep(_ => Volatile.Read(ref holds));
        await using var host = await ProductHost.StartAsync(_folder, mock, services => gate.InsertBefore(services, typeof(MapArchives)));
        host.Client.DefaultRequestHeaders.Authorization = new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        await AddAsync(host, "Played", articles: 100, partSize: 500_000);
        var release = await AddAsync(host, "Unopened", articles: 5, partSize: 2_000);
        var openings = host.Get<ReleaseOpenings>();
        Volatile.Write(ref holds, true);
        await CloseAsync(host, release);
        await gate.WaitForAsync("", 1, Token);
        Assert.False(openings.TryClaim(release));

        using (var answer = await host.Client.GetAsync(new Uri("/content/tv/Played/film.mkv", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, Token))
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
            limit.CancelAfter(TimeSpan.FromSeconds(60));
            while (!openings.TryClaim(release))
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, limit.Token);
            openings.End(release, failure: null);
            Assert.Equal(1, await WaitingAsync(host));
        }

        await gate.WaitForAsync("", 2, Token);
        gate.Open();
        while (await WaitingAsync(host) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    [Fact]
    public async Task Refuted_release_is_remapped_even_if_openings_fail()
    {
        await using var mock = await MockServer.StartAsync();
        var holds = false;
        var gate = new GateStep(_ => Volatile.Read(ref holds));
        using var lines = new CapturedLines();
        await using var host = await ProductHost.StartAsync(
            _folder,
            mock,
            services =>
            {
                gate.InsertBefore(services, typeof(MapArchives));
                services.AddSingleton<ILoggerProvider>(lines);
            },
            ("LOG_LEVEL", "warning"));
        var release = await AddAsync(host, "Film", articles: 5, partSize: 2_000);
        // Remapping replaces this row, so the loop below sees when it is done.
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE posted_file SET estimated = 1"), Token);
        Volatile.Write(ref holds, true);
        host.Get<Predictions>().Refute(release);
        await gate.WaitForAsync("", 1, Token);

        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("ALTER TABLE release_opening RENAME TO gone"), Token);
        host.Get<ReleaseOpenings>().Added.Set();
        while (!lines.Lines.Any(line => line.Contains("release_opening", StringComparison.Ordinal)))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        gate.Open();

        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
        limit.CancelAfter(TimeSpan.FromSeconds(60));
        while (await host.Get<SluiceDatabase>().ReadAsync(connection => LibraryStore.IsEstimated(connection, release, 0), limit.Token))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, limit.Token);
        Assert.Equal(1, gate.Runs(""));
    }

    [Fact]
    public async Task Password_of_an_old_release_is_kept_after_its_opening()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock);
        var release = await AddAsync(host, "Film", articles: 5, partSize: 2_000);
        var kept = host.Get<ItemPasswords>().Seal(release.NzbHash, "secret");
        var openings = host.Get<ReleaseOpenings>();

        for (var i = 0; i < 2; i++)
        {
            await CloseAsync(host, release, i == 0 ? kept : "");
            while (await WaitingAsync(host) > 0)
                await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
            Assert.Equal(kept, await openings.FindPasswordAsync(release, Token));
            Assert.Null(await openings.FindNextAsync([], Token));
        }
    }

    [Fact]
    public async Task Unplayable_item_from_an_old_server_stays_in_history()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder, mock, WithoutOpening);
        var release = await AddAsync(host, "Film", articles: 5, partSize: 2_000);
        await CloseAsync(host, release);
        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                host.Get<ReleaseOpenings>().Settle(connection, release, ImportFailure.WrongPassword().Sentence);
                HistoryStore.SetFailure(connection, release.Id, ImportFailure.WrongPassword());
                return connection.Execute("UPDATE history_item SET completed_at = 1");
            },
            Token);
        var history = host.Get<HistoryStore>();

        Assert.Empty(await history.FindOldAsync(DateTimeOffset.UnixEpoch.AddDays(1), Token));
        await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM release_opening"), Token);
        Assert.Single(await history.FindOldAsync(DateTimeOffset.UnixEpoch.AddDays(1), Token));
    }

    [Theory]
    [InlineData("opening")]
    [InlineData("same NZB")]
    [InlineData("mark_as_completed")]
    public async Task Rclone_is_notified_when_a_failed_item_completes(string cause)
    {
        await using var mock = await MockServer.StartAsync();
        await using var rclone = await FakeRclone.StartAsync();
        await using var host = await ProductHost.StartAsync(
            _folder,
            mock,
            cause == "opening" ? null : WithoutOpening,
            ("SLUICE_CONFIG__RCLONE__MOUNT_DIR", "/mnt"),
            ("SLUICE_CONFIG__RCLONE__RC_ENABLED", "true"),
            ("SLUICE_CONFIG__RCLONE__HOST", rclone.Address + "/rc"));
        var release = await AddAsync(host, "Film", articles: 5, partSize: 2_000);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
        limit.CancelAfter(TimeSpan.FromSeconds(60));
        while (!(await rclone.NextAsync(limit.Token)).Folders.Contains("completed-symlinks/tv/Film"))
        {
            // Skip the call for other folders of the import.
        }

        var id = await host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.ExecuteScalar<string>("UPDATE history_item SET reason = 'WrongPassword' RETURNING id"), Token);
        await CloseAsync(host, release);
        if (cause == "same NZB")
            await host.AddAsync(PostOf("Film", articles: 5, partSize: 2_000).ToNzb(), "Again.nzb", Token, "&cat=tv");
        else if (cause == "mark_as_completed")
            await host.CallAsync($"mode=history&name=mark_as_completed&value={id}", Token);

        while (!(await rclone.NextAsync(limit.Token)).Folders.Contains("completed-symlinks/tv/Film"))
        {
            // Skip other calls, because the second item may cause its own.
        }
    }

    private static Task<int> WaitingAsync(ProductHost host) => host.Get<ReleaseOpenings>().CountWaitingAsync(Token);

    /// <summary>Imports a film with its own articles.</summary>
    private static async Task<Release> AddAsync(ProductHost host, string name, int articles, int partSize)
    {
        var id = (await host.AddAsync(PostOf(name, articles, partSize).ToNzb(), name + ".nzb", Token, "&cat=tv"))[0];
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
        return Assert.IsType<ReleaseEntry>(await host.Get<LibraryTree>().FindAsync(["tv", name], Token)).Release;
    }

    private static MockRelease PostOf(string name, int articles, int partSize) =>
        new(name, 3, [new MockFile { Name = "film.mkv", Size = (long)articles * partSize, PartLengths = [.. Enumerable.Repeat(partSize, articles)] }]);

    private static void WithoutOpening(IServiceCollection services) => services.Remove(services.Single(service => service.ImplementationType == typeof(RemappingWorker)));

    /// <summary>Stores the release like an import of an old server: with unopened files, a row in <c>release_opening</c> and the old password.</summary>
    private static async Task CloseAsync(ProductHost host, Release release, string password = "")
    {
        await host.Get<SluiceDatabase>().WriteAsync(
            connection =>
            {
                connection.Execute("UPDATE posted_file SET estimated = 1 WHERE release_id = @Id", new { release.Id });
                foreach (var file in LibraryStore.ListFiles(connection, release))
                    Assert.True(LibraryStore.Close(connection, release.Id, file.Id));
                ReleaseOpenings.Add(connection, release.Id, password);
                return true;
            },
            Token);
        host.Get<ReleaseOpenings>().Added.Set();
    }
}
