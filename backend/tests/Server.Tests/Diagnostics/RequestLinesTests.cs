using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Server.Tests.WebDav;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

/// <summary>Log lines of requests at each level, without the contents of queries and headers (S4).</summary>
public sealed class RequestLinesTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();
    private readonly CapturedLines _captured = new();

    public void Dispose()
    {
        _captured.Dispose();
        _temporary.Dispose();
    }

    [Theory]
    [InlineData("trace")]
    [InlineData("debug")]
    [InlineData("information")]
    public async Task Keys_and_passwords_in_requests_are_never_logged(string level)
    {
        await using (var server = await StartAsync(level))
        {
            foreach (var request in new[]
            {
                "GET /view/content/a.mkv?downloadKey=canary01&expires=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "GET /api?mode=queue&apikey=canary02 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                $"GET /api?mode=addfile&password=canary03&apikey={RunningServer.ApiKey} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
                "GET /view/content/a.mkv?downloadKey=canary04 HTTP/9.9\r\nHost: x\r\n\r\n",
                "GET  /view/content/a.mkv?downloadKey=canary05 HTTP/1.1\r\nHost: x\r\n\r\n",
                "GET /README HTTP/1.1\r\nHost: x\r\nX-Api-Key canary06\r\n\r\n",
                "GET /README HTTP/1.1\r\nHost: x\r\nX-Api-Key: canary07\u0001\r\n\r\n",
                "GET /README HTTP/1.1\r\nHost: x\r\nAuthorization: Basic canary08\r\nConnection: close\r\n\r\n",
            })
            {
                await using var connection = await RawConnection.OpenAsync(server.Address);
                await connection.SendRawAsync(request);
                await connection.ReadHeadAsync();
            }
        }

        Assert.DoesNotContain(_captured.Lines, line => line.Contains("canary", StringComparison.OrdinalIgnoreCase));
    }

    [Theory]
    [InlineData("debug", true)]
    [InlineData("information", false)]
    public async Task Request_is_logged_once_without_query_at_debug_only(string level, bool wanted)
    {
        await using (var server = await StartAsync(level))
        {
            using var answer = await server.Client.GetAsync("view/content/a%20b.mkv?downloadKey=x", TestContext.Current.CancellationToken);
            Assert.Equal(401, (int)answer.StatusCode);
        }

        var lines = _captured.Lines.Where(line => line.Contains("GET /view/content/a b.mkv from 127.0.0.1: 401", StringComparison.Ordinal));
        Assert.Equal(wanted ? 1 : 0, lines.Count());
    }

    private Task<RunningServer> StartAsync(string level) => RunningServer.StartAsync(
        _temporary,
        new() { ["LOG_LEVEL"] = level },
        null,
        services => services.AddLogging(logging => logging.ClearProviders().AddProvider(_captured)));
}
