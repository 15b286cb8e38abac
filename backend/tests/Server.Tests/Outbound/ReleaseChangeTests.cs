using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Outbound;

/// <summary>The whole server with rclone: each change of a release is reported, and nothing waits for the call (DAV-17, IMP-74).</summary>
public sealed class ReleaseChangeTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Import_and_removal_notify_rclone_without_waiting()
    {
        await using var mock = await MockServer.StartAsync();
        await using var rclone = await FakeRclone.StartAsync();
        var gate = new TaskCompletionSource();
        rclone.Gate = gate.Task;
        await using var host = await ProductHost.StartAsync(
            _folder, mock, null,
            ("SLUICE_CONFIG__RCLONE__RC_ENABLED", "true"), ("SLUICE_CONFIG__RCLONE__HOST", rclone.Address));
        var film = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);

        var first = await host.AddAsync(film.ToNzb(), "One.nzb", Token, "&cat=tv");
        await host.WaitForHistoryAsync(first[0], Token);
        Assert.Contains("content/tv/One", (await rclone.NextAsync(Token)).Folders);

        // The first call has no response yet.
        var second = await host.AddAsync(film.ToNzb(), "Two.nzb", Token, "&cat=movies");
        await host.WaitForHistoryAsync(second[0], Token);
        Assert.Equal(HttpStatusCode.NoContent, await DeleteAsync(host, "completed-symlinks/tv/One"));
        Assert.Equal(HttpStatusCode.NotFound, await DeleteAsync(host, "completed-symlinks/tv/One"));
        gate.SetResult();

        var call = await rclone.NextAsync(Token);
        Assert.Superset(new HashSet<string> { "content/movies/Two", "completed-symlinks/tv/One", "completed-symlinks/tv" }, call.Folders.ToHashSet());
    }

    private static async Task<HttpStatusCode> DeleteAsync(ProductHost host, string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Delete, new Uri(path, UriKind.Relative));
        var credentials = Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}"));
        request.Headers.Authorization = new AuthenticationHeaderValue("Basic", credentials);
        using var answer = await host.Client.SendAsync(request, Token);
        return answer.StatusCode;
    }
}
