using System.Net;
using System.Net.Http.Headers;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>Paths with text that cannot be normalized to NFC are rejected like any unknown path (DAV-15).</summary>
public sealed class UnicodePathTests
{
    private static readonly string[] Paths =
    [
        "/%EF%BF%BE", "/content/%EF%BF%BE", "/content/tv/a%EF%BF%BEb/c.mkv", "/completed-symlinks/%EF%BF%BE", "/completed-symlinks/tv/%EF%BF%BE/x",
        "/nzbs/%EF%BF%BE", "/nzbs/tv/%EF%BF%BE.nzb", "/.ids/%EF%BF%BE",
    ];

    [Fact]
    public async Task Path_with_invalid_Unicode_returns_400_for_every_verb()
    {
        using var folder = new TemporaryFolder();
        await using var host = await ProductHost.StartAsync(folder);
        foreach (var path in Paths)
        {
            foreach (var verb in new[] { "GET", "HEAD", "PROPFIND", "PUT", "DELETE", "MKCOL", "LOCK" })
            {
                using var request = new HttpRequestMessage(new HttpMethod(verb), new Uri(path, UriKind.Relative));
                request.Headers.Authorization = new AuthenticationHeaderValue(
                    "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
                using var answer = await host.Client.SendAsync(request, TestContext.Current.CancellationToken);
                Assert.True(answer.StatusCode == HttpStatusCode.BadRequest, $"{verb} {path}: {answer.StatusCode}");
            }
        }
    }
}
