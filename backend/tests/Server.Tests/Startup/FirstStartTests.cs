using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Text.RegularExpressions;
using Dapper;
using Microsoft.Data.Sqlite;
using Sluice.Server.Settings;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

public sealed partial class FirstStartTests : IDisposable
{
    private readonly Database.TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Generated_secrets_are_printed_once_and_stored_protected()
    {
        string password;
        string key;
        await using (var first = await StartAsync([]))
        {
            password = Credentials().Match(string.Join('\n', first.Lines)).Groups["pass"].Value;
            key = ApiKey().Match(string.Join('\n', first.Lines)).Groups["key"].Value;
            Assert.Equal(20, password.Length);
            Assert.Equal(32, key.Length);
            var code = (await File.ReadAllTextAsync(Path.Combine(_temporary.Root, "setup-code"), Token)).Trim();
            Assert.Contains(first.Lines, line => line.EndsWith($"{Url(first)["http://127.0.0.1".Length..]}setup#{code}", StringComparison.Ordinal));
            using var http = new HttpClient();
            http.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", password);
            using var answer = await http.GetAsync(new Uri(Url(first) + "no-such-path"), Token);
            Assert.NotEqual(HttpStatusCode.Unauthorized, answer.StatusCode);
            var film = new Uri(Film().Match(string.Join('\n', first.Lines)).Value);
            using var head = new HttpRequestMessage(HttpMethod.Head, film.GetComponents(UriComponents.HttpRequestUrl, UriFormat.UriEscaped));
            using var played = await http.SendAsync(head, Token);
            Assert.Equal(HttpStatusCode.OK, played.StatusCode);
            Assert.Equal("video/mp4", played.Content.Headers.ContentType!.MediaType);
            Assert.Equal(0, await first.StopAsync(Token));
        }

        await using (var second = await StartAsync([]))
        {
            Assert.DoesNotContain(second.Lines, line => Credentials().IsMatch(line) || ApiKey().IsMatch(line));
            Assert.Contains(second.Lines, line => line.Contains(Url(second), StringComparison.Ordinal));
            Assert.Equal(0, await second.StopAsync(Token));
        }

        await using var connection = Open();
        Assert.True(PasswordHash.Parse(Saved(connection, "webdav.pass"))!.Verify(password));
        Assert.Equal(key, new SecretBox(_temporary.Folder).Open("api.key", Saved(connection, "api.key")));
    }

    [Fact]
    public async Task Credentials_are_printed_before_the_port_opens()
    {
        ExternalProgram.Require("sh");
        var (port, log) = (ServerProcess.FreePort(), Path.Combine(_temporary.Root, "log"));
        // The output goes to a file, because a line in a pipe may still be unread when the port opens.
        await using var server = ServerProcess.Launch("sh", ["-c", $"exec '{ServerProcess.Executable}' >'{log}'"], _temporary.Root, port, new Dictionary<string, string>());

        await UntilConnectedAsync(server, port);
        var printed = await ReadSharedAsync(log);

        Assert.Matches(Credentials(), printed);
        Assert.Matches(ApiKey(), printed);
        Assert.Matches($@"Set it up in a browser:\n  http://(localhost|127\.0\.0\.1):{port}/setup#\w", printed);
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Printed_addresses_have_the_published_port()
    {
        await using var server = await StartAsync(new() { ["PUBLISHED_PORT"] = "8123" });

        Assert.Single(server.Lines, line => line.Contains(":8123/setup#", StringComparison.Ordinal));
        Assert.Contains(server.Lines, line => Film().Match(line).Value.Contains(":8123/", StringComparison.Ordinal));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Secrets_from_the_environment_are_not_printed_or_saved()
    {
        await using (var server = await StartAsync(new() { ["WEBDAV_PASSWORD"] = "from-the-environment", ["SLUICE_CONFIG__API__KEY"] = RunningServer.ApiKey }))
        {
            Assert.DoesNotContain(
                server.Lines,
                line => line.Contains("from-the-environment", StringComparison.Ordinal) || line.Contains(RunningServer.ApiKey, StringComparison.Ordinal));
            Assert.Equal(0, await server.StopAsync(Token));
        }

        await using var connection = Open();
        // The key for signed links is generated anyway, because it is not configured and no user needs to see it.
        Assert.Equal(["api.strm-key"], connection.Query<string>("SELECT key FROM setting"));
    }

    /// <summary>Retries without a pause, because the test checks the log at the moment when the port opens.</summary>
    private static async Task UntilConnectedAsync(ServerProcess server, int port)
    {
        while (true)
        {
            Assert.False(server.HasEnded, string.Join('\n', server.Lines));
            try
            {
                using var client = new TcpClient();
                await client.ConnectAsync(IPAddress.Loopback, port, Token);
                return;
            }
            catch (SocketException)
            {
                await Task.Yield();
            }
        }
    }

    private static async Task<string> ReadSharedAsync(string path)
    {
        await using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        using var reader = new StreamReader(file);
        return await reader.ReadToEndAsync(Token);
    }

    private static string Url(ServerProcess server) => string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{server.Port}/");

    private static string Saved(SqliteConnection connection, string key) =>
        connection.ExecuteScalar<string>("SELECT value FROM setting WHERE key = @key", new { key })!;

    private SqliteConnection Open() => new($"Data Source={_temporary.Folder.Database};Mode=ReadOnly;Pooling=False");

    private Task<ServerProcess> StartAsync(Dictionary<string, string> variables) =>
        ServerProcess.StartAsync(ServerProcess.Executable, [], _temporary.Root, ServerProcess.FreePort(), variables, Token);

    [GeneratedRegex(@"http://admin:(?<pass>[^@]+)@127\.0\.0\.1:\d+/")]
    private static partial Regex Credentials();

    [GeneratedRegex(@"http://admin:\S+/content/demo/\S+")]
    private static partial Regex Film();

    [GeneratedRegex(@"API key\s+(?<key>[0-9a-f]+)")]
    private static partial Regex ApiKey();
}
