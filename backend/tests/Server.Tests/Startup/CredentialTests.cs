using System.Net;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Diagnostics;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.WebDav;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Well-known passwords, and networks that need no password (S8, S9, CFG-51).</summary>
public sealed class CredentialTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [InlineData("SLUICE_CONFIG__WEBDAV__PASS", "password")]
    [InlineData("NZBDAV_CONFIG__WEBDAV__PASS", "12345678")]
    [InlineData("WEBDAV_PASSWORD", "ChangeMe")]
    [InlineData("WEBDAV_PASSWORD", "adminadmin")]
    [InlineData("WEBDAV_PASSWORD", "        ")]
    public async Task Well_known_environment_password_is_replaced_and_ignored(string variable, string password)
    {
        string generated;
        using var captured = new CapturedLines();
        await using (var server = await StartAsync(variable, password, captured))
        {
            generated = server.Services.GetRequiredService<SettingsSource>().Current.Text("webdav.pass");
            Assert.Single(captured.Lines, line => line.Contains($"webdav.pass from {variable} must be", StringComparison.Ordinal));
            Assert.Equal(HttpStatusCode.Unauthorized, await AskAsync(server, password));
            Assert.True(PasswordHash.IsHash(generated));
        }

        await using var again = await StartAsync(variable, password, captured);
        Assert.Equal(generated, again.Services.GetRequiredService<SettingsSource>().Current.Text("webdav.pass"));
    }

    [Fact]
    public async Task Well_known_password_cannot_be_saved()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["SLUICE_CONFIG__WEBDAV__PASS"] = "" });
        foreach (var password in new[] { "password", "PASSWORD1", "          " })
        {
            var errors = await server.Services.GetRequiredService<SettingsStore>()
                .SaveAsync(new Dictionary<string, string?> { ["webdav.pass"] = password }, Token);

            Assert.Equal(["webdav.pass"], errors.Keys);
        }
    }

    [Fact]
    public async Task Networks_without_a_password_are_logged_once_at_startup()
    {
        using var captured = new CapturedLines();
        await using var server = await RunningServer.StartAsync(
            _temporary,
            new() { ["DISABLE_WEBDAV_AUTH"] = "true", ["SLUICE_CONFIG__WEBDAV__NO_AUTH_NETWORKS"] = "192.0.2.0/24,0.0.0.0/0" },
            null,
            services => services.AddLogging(logging => logging.ClearProviders().AddProvider(captured)));

        var line = Assert.Single(captured.Lines, line => line.Contains("192.0.2.0/24", StringComparison.Ordinal));
        Assert.StartsWith("Warning", line, StringComparison.Ordinal);
        Assert.Contains("0.0.0.0/0", line, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("GET /healthz HTTP/1.1\nHost: x\n\n")]
    [InlineData("GET /healthz HTTP/1.1\r\nHost: x\nX: y\r\n\r\n")]
    public async Task Bare_line_feed_in_a_request_head_gets_400(string request)
    {
        await using var server = await ServerProcess.StartAsync(_temporary.Root, null, Token);
        await using var connection = await RawConnection.OpenAsync(new Uri($"http://127.0.0.1:{server.Port.ToString(System.Globalization.CultureInfo.InvariantCulture)}/"));

        await connection.SendRawAsync(request);

        Assert.Equal(400, (await connection.ReadHeadAsync()).Status);
    }

    private static async Task<HttpStatusCode> AskAsync(RunningServer server, string password)
    {
        using var request = new HttpRequestMessage(HttpMethod.Head, "README") { Headers = { Authorization = RunningServer.Basic("admin", password) } };
        using var answer = await server.Client.SendAsync(request, Token);
        return answer.StatusCode;
    }

    private Task<RunningServer> StartAsync(string variable, string password, CapturedLines captured)
    {
        var variables = new Dictionary<string, string> { ["SLUICE_CONFIG__WEBDAV__PASS"] = "" };
        variables[variable] = password;
        return RunningServer.StartAsync(
            _temporary, variables, null, services => services.AddLogging(logging => logging.ClearProviders().AddProvider(captured)));
    }
}
