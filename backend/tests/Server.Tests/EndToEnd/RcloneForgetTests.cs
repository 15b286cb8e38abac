using System.Globalization;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A real rclone that caches listings for hours and is notified of changes (DAV-17).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class RcloneForgetTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    [Fact]
    public async Task Rclone_with_cached_listing_sees_a_new_release()
    {
        ExternalProgram.Require("rclone");
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        limit.CancelAfter(Limit);
        var cancel = limit.Token;
        var (view, remote) = (ServerProcess.FreePort(), ServerProcess.FreePort());
        await using var set = await MockedServer.StartAsync(
            new Sluice.Tools.MockNntpServer.MockOptions { Spool = RealPost.Spool },
            new Dictionary<string, string>
            {
                ["SLUICE_CONFIG__RCLONE__RC_ENABLED"] = "true",
                ["SLUICE_CONFIG__RCLONE__HOST"] = $"http://127.0.0.1:{remote}",
                ["SLUICE_CONFIG__RCLONE__USER"] = "told",
                ["SLUICE_CONFIG__RCLONE__PASS"] = "well-kept: secret",
            },
            cancel);
        using var rclone = await StartAsync(set, view, remote, cancel);
        try
        {
            using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{view}/") };
            Assert.DoesNotContain("raw-mkv", await ListAsync(http, cancel), StringComparison.Ordinal);

            await set.Client.PublishedAsync(await set.Client.AddFileAsync("movies", "raw-mkv", RealPost.Read("raw-mkv").Nzb, cancel), cancel);

            while (!(await ListAsync(http, cancel)).Contains("raw-mkv", StringComparison.Ordinal))
                await Task.Delay(Poll, TimeProvider.System, cancel);
        }
        finally
        {
            rclone.Kill();
            await rclone.WaitForExitAsync(CancellationToken.None);
        }
    }

    private static async Task<System.Diagnostics.Process> StartAsync(MockedServer set, int view, int remote, CancellationToken cancel)
    {
        var obscured = (await ExternalProgram.RunAsync("rclone", ["obscure", ServerProcess.Password], null, cancel)).Succeeded().Text.Trim();
        return ExternalProgram.Start(
            "rclone",
            [
                "serve", "http", "sluice:", "--addr", string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{view}"),
                "--dir-cache-time", "24h", "--log-file", set.File("rclone.log"),
                "--rc", "--rc-addr", string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{remote}"),
                "--rc-user", "told", "--rc-pass", "well-kept: secret",
            ],
            new Dictionary<string, string>
            {
                ["RCLONE_CONFIG"] = set.File("rclone.conf"),
                ["RCLONE_CONFIG_SLUICE_TYPE"] = "webdav",
                ["RCLONE_CONFIG_SLUICE_URL"] = $"http://127.0.0.1:{set.Server.Port}",
                ["RCLONE_CONFIG_SLUICE_USER"] = ServerProcess.User,
                ["RCLONE_CONFIG_SLUICE_PASS"] = obscured,
            });
    }

    /// <summary>Lists the folder, and waits until rclone serves. rclone caches its first listing.</summary>
    private static async Task<string> ListAsync(HttpClient http, CancellationToken cancel)
    {
        while (true)
        {
            try
            {
                return await http.GetStringAsync(new Uri("content/movies/", UriKind.Relative), cancel);
            }
            catch (HttpRequestException)
            {
                await Task.Delay(Poll, TimeProvider.System, cancel);
            }
        }
    }
}
