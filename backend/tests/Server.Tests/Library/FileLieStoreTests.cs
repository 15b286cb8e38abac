using System.Net;
using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>A file with a corrupt article is verified before it is served for a day, even after a restart (F18, F38).</summary>
public sealed class FileLieStoreTests : IDisposable
{
    private const int ArticleSize = 700_000;
    private const string Path = "/content/tv/Rel/film.mkv";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task F38_Corrupt_file_is_still_verified_first_after_a_restart()
    {
        var release = new MockRelease("lies", 18, [new MockFile { Name = "film.mkv", Size = 8L * ArticleSize, ArticleSize = ArticleSize }]);
        await using var mock = await MockServer.StartAsync();
        await using (var host = await StartAsync(mock))
        {
            var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token, "&cat=tv");
            await host.WaitForHistoryAsync(id[0], Token);
            mock.ChangeCorrupt(ArticleSelection.Parts(3, 6));
            await Assert.ThrowsAnyAsync<HttpRequestException>(async () =>
            {
                using var cut = await host.Client.SendAsync(AskFor(3), Token);
                cut.EnsureSuccessStatusCode();
            });
        }

        // After a restart the provider is trusted again, so without the stored file its bytes would be sent unverified.
        await using var restarted = await StartAsync(mock);
        using var bad = await restarted.Client.SendAsync(AskFor(6), HttpCompletionOption.ResponseHeadersRead, Token);
        // The first failure may be temporary, so the response is 503 (F17). No byte has been sent.
        Assert.Equal(HttpStatusCode.ServiceUnavailable, bad.StatusCode);
        using var sound = await restarted.Client.SendAsync(AskFor(2), HttpCompletionOption.ResponseHeadersRead, Token);
        Assert.Equal(HttpStatusCode.PartialContent, sound.StatusCode);
        var files = await restarted.Get<SluiceDatabase>().ReadAsync(connection => connection.Query<string>("SELECT file FROM file_lie").AsList(), Token);
        Assert.Equal(sound.Headers.ETag?.Tag, $"\"{Assert.Single(files)}\"");
    }

    [Fact]
    public async Task F38_Corrupt_file_table_is_bounded_and_expires_in_a_day()
    {
        var time = new ManualTimeProvider();
        var now = time.GetUtcNow().ToUnixTimeMilliseconds();
        await using var database = _folder.OpenDatabase();
        using var memory = new StreamMemory(time);
        var store = new FileLieStore(memory, database, time);
        await database.WriteAsync(
            connection =>
            {
                connection.Execute("INSERT INTO file_lie VALUES ('of yesterday', @old), ('of the end of time', @far)", new { old = now - 86_400_000, far = long.MaxValue });
                return connection.Execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < @most) INSERT INTO file_lie SELECT 'file ' || i, @now - i FROM n",
                    new { most = RememberedLie.MostFiles, now });
            },
            Token);

        // A time in the future counts as today and is saved again; other restored rows are not.
        await store.RestoreAsync(Token);
        await store.SaveAsync(Token);

        var rows = await database.ReadAsync(
            connection => connection.Query<(string File, long At)>("SELECT file, at FROM file_lie ORDER BY at DESC").AsList(), Token);
        Assert.Equal(RememberedLie.MostFiles, rows.Count);
        Assert.Equal([("of the end of time", now), ("file 1", now - 1), ("file 2", now - 2)], rows.Take(3));
        Assert.Equal(($"file {RememberedLie.MostFiles - 1}", now - RememberedLie.MostFiles + 1), rows[^1]);
    }

    private static HttpRequestMessage AskFor(int part) => new(HttpMethod.Get, new Uri(Path, UriKind.Relative))
    {
        Headers = { Range = new((part - 1L) * ArticleSize, (part * (long)ArticleSize) - 1) },
    };

    private async Task<ProductHost> StartAsync(MockServer mock)
    {
        var host = await ProductHost.StartAsync(_folder, mock, replace: null, ("SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED", "false"));
        host.Client.DefaultRequestHeaders.Authorization =
            new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        return host;
    }
}
