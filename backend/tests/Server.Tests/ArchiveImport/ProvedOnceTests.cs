using System.Net;
using System.Text.Json;
using Dapper;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>The articles for a proof are fetched once, and not while a viewer waits: IMP-52.</summary>
public sealed class ProvedOnceTests : IDisposable
{
    private const int VolumeBytes = 5000;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(200)]
    [InlineData(1000)]
    public async Task Seek_in_a_proved_set_costs_one_article_after_a_restart(int volumes)
    {
        var release = SetOf(volumes);
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock, hasWorker: false))
        {
            Assert.Equal(4, await ImportAsync(host, mock, release));

            // Fetches the heads of the shorter side except the two read by the import, the head of the volume, and the article.
            Assert.Equal(volumes / 2, await SeekAsync(host, mock, release, volumes / 2));
            Assert.Equal(1, await SeekAsync(host, mock, release, (volumes / 2) - 3));
        }

        await using var restarted = await StartAsync(mock, hasWorker: false);
        Assert.Equal(1, await SeekAsync(restarted, mock, release, (volumes / 2) - 5));
        Assert.Equal(1, await SeekAsync(restarted, mock, release, 7));
        Assert.Equal((volumes / 2) - 2, await PredictedAsync(restarted));
    }

    [Fact]
    public async Task Background_proof_of_a_set_continues_after_a_restart()
    {
        var release = SetOf(1000);
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock))
            await ImportAsync(host, mock, release);

        // The first run may have proved any part of the release.
        await using var restarted = await StartAsync(mock);
        await IsProvedAsync(restarted);

        Assert.InRange(mock.Stats.CommandCount("BODY"), 4 + 997, 4 + 997 + 1);
        Assert.Equal(1, await SeekAsync(restarted, mock, release, 500));
    }

    [Fact]
    public async Task Seek_in_an_older_release_starts_its_proof()
    {
        var release = SetOf(200);
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock, hasWorker: false))
        {
            await ImportAsync(host, mock, release);
            await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("DELETE FROM release_proof"), Token);
        }

        await using var updated = await StartAsync(mock);
        await SeekAsync(updated, mock, release, 20);
        await IsProvedAsync(updated);

        Assert.InRange(mock.Stats.CommandCount("BODY"), 4 + 197 + 1, 4 + 197 + 3);
    }

    [Fact]
    public async Task Background_proof_never_uses_the_backup_provider()
    {
        var release = SetOf(60);
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [new MockProvider { Missing = ArticleSelection.Article(release.MessageId(30, 1)) }, new MockProvider()],
        });
        await using var host = await StartAsync(mock, backup: 1);
        await ImportAsync(host, mock, release);
        while (await WaitingAsync(host) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.Equal(0, mock.ProviderStats[1].CommandCount("BODY"));
        // The first provider is known to lack the head, so only the backup is asked for it. The article comes from the first provider.
        Assert.Equal(2, await SeekAsync(host, mock, release, 30));
        Assert.Equal(1, mock.ProviderStats[1].CommandCount("BODY"));
    }

    [Fact]
    public async Task Proof_stops_at_the_daily_limit_and_resumes_the_next_day()
    {
        var release = SetOf(60);
        await using var mock = await MockServer.StartAsync();
        await using var host = await StartAsync(mock, hasWorker: false);
        await ImportAsync(host, mock, release);
        var (time, queue, sunday) = (new ManualTimeProvider(), host.Get<ProofQueue>(), new DateOnly(2026, 1, 4));
        await queue.AddCostAsync(sunday.AddDays(-1), ProvingWorker.BytesPerDay, Token);
        var worker = new ProvingWorker(
            queue, host.Get<Predictions>(), host.Get<LibraryStore>(), host.Get<OpenReleases>(), host.Get<SluiceDatabase>(), time, NullLogger<ProvingWorker>.Instance);
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(Token);

        var running = worker.RunAsync(stop.Token);
        while (time.Waiting == 0)
            await Task.Yield();
        Assert.Equal(4, mock.Stats.CommandCount("BODY"));
        time.Advance(TimeSpan.FromHours(14));
        await IsProvedAsync(host);

        Assert.Equal(4 + 57, mock.Stats.CommandCount("BODY"));
        Assert.InRange(await queue.GetCostAsync(sunday, Token), 57 * 2900, 57 * 3000);
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
    }

    private static MockRelease SetOf(int volumes) => new ReleaseBuilder($"Long.Set.{volumes}", (ulong)volumes, 3000)
        .AddArchive(new ArchiveLayout { Format = LayoutFormat.Rar5, Volumes = volumes, Entries = [new LayoutEntry("film.mkv", (long)volumes * VolumeBytes)] }).Build();

    private Task<ProductHost> StartAsync(MockServer mock, bool hasWorker = true, int? backup = null) => ProductHost.StartAsync(
        _folder,
        mock,
        services =>
        {
            if (!hasWorker)
                services.Remove(services.Single(service => service.ImplementationType == typeof(ProvingWorker)));
        },
        [
            // A hedge would request a late reply again on a busy machine, and this test counts every article.
            ("SLUICE_CONFIG__USENET__HEDGE__ENABLED", "false"),
            .. backup is { } provider ? [("SLUICE_CONFIG__USENET__PROVIDERS", ProvidersJson(mock, provider))] : ((string, string)[])[],
        ]);

    private static string ProvidersJson(MockServer mock, int backup) => JsonSerializer.Serialize(new
    {
        Providers = mock.Ports.Select((port, i) => new { Nickname = $"mock{i}", Host = "127.0.0.1", Port = port, UseSsl = false, MaxConnections = 8, Type = i == backup ? 3 : 1, Priority = i }),
    });

    /// <returns>Number of articles that the import fetched.</returns>
    private static async Task<long> ImportAsync(ProductHost host, MockServer mock, MockRelease release)
    {
        mock.Post(release);
        var before = mock.Stats.CommandCount("BODY");
        var id = (await host.AddAsync(release.ToNzb(), release.Title + ".nzb", Token, "&cat=tv"))[0];
        Assert.Equal("", (await host.WaitForHistoryAsync(id, Token)).GetProperty("fail_message").GetString());
        return mock.Stats.CommandCount("BODY") - before;
    }

    /// <summary>Reads some bytes from the second article of a volume and compares them.</summary>
    /// <returns>Number of articles fetched.</returns>
    private static async Task<long> SeekAsync(ProductHost host, MockServer mock, MockRelease release, int volume)
    {
        // All volumes hold nearly the same number of bytes.
        var offset = ((long)volume * VolumeBytes) + 3600;
        var before = mock.Stats.CommandCount("BODY");
        using var answer = await host.SendAsync(HttpMethod.Get, $"/content/tv/{release.Title}/film.mkv", null, Token, ("Range", $"bytes={offset}-{offset + 99}"));
        Assert.Equal(HttpStatusCode.PartialContent, answer.StatusCode);
        var expected = new byte[100];
        release.Entries[0].Bytes.Fill(offset, expected);
        Assert.Equal(expected, await answer.Content.ReadAsByteArrayAsync(Token));
        return mock.Stats.CommandCount("BODY") - before;
    }

    private static async Task IsProvedAsync(ProductHost host)
    {
        while (await WaitingAsync(host) + await PredictedAsync(host) > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    private static Task<long> WaitingAsync(ProductHost host) =>
        host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(*) FROM release_proof"), Token);

    private static Task<long> PredictedAsync(ProductHost host) =>
        host.Get<SluiceDatabase>().ReadAsync(connection => connection.ExecuteScalar<long>("SELECT count(predicted) FROM posted_file"), Token);
}
