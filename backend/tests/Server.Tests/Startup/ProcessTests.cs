using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>The built program: conditions that prevent a start, and their messages (CFG-13, CFG-14).</summary>
public sealed class ProcessTests : IDisposable
{
    private readonly Database.TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Uncreatable_data_folder_exits_with_code_78()
    {
        await File.WriteAllTextAsync(Path.Combine(_temporary.Root, "file"), "", Token);

        await ExpectAsync(
            78,
            "configuration folder .*/file/config does not exist and cannot be created",
            ("CONFIG_PATH", Path.Combine(_temporary.Root, "file", "config")));
    }

    [Fact]
    public async Task Unwritable_data_folder_exits_with_code_78()
    {
        if (Environment.IsPrivilegedProcess)
        {
            // root can write everywhere except where the system itself refuses.
            Assert.SkipUnless(OperatingSystem.IsLinux(), "needs a folder that not even the administrator can write to");
            await ExpectAsync(78, "configuration folder /proc is not writable by uid 0 .owner 0:0, mode 555.", ("CONFIG_PATH", "/proc"));
            return;
        }

        var folder = Directory.CreateDirectory(Path.Combine(_temporary.Root, "config"));
        if (!OperatingSystem.IsWindows())
            folder.UnixFileMode = UnixFileMode.UserRead | UnixFileMode.UserExecute;

        await ExpectAsync(78, "configuration folder .* is not writable by uid [0-9]+ .owner [0-9]+:[0-9]+, mode 500.", ("CONFIG_PATH", folder.FullName));
    }

    [Theory]
    [InlineData("9999", "newer Sluice .version 9999")]
    [InlineData("2147483647", "newer Sluice .version 2147483647")]
    [InlineData("-1", "sluice.db has version -1, which no Sluice ever wrote; restore a copy from .*backups")]
    [InlineData("-2147483648", "sluice.db has version -2147483648, which no Sluice ever wrote")]
    public async Task Database_of_an_unknown_version_exits_with_code_78(string version, string sentence)
    {
        await using (var connection = new SqliteConnection($"Data Source={_temporary.Folder.Database};Pooling=False"))
        {
            await connection.OpenAsync(Token);
            await using var command = connection.CreateCommand();
            command.CommandText = $"PRAGMA user_version = {version}";
            await command.ExecuteNonQueryAsync(Token);
        }

        await ExpectAsync(78, sentence);
    }

    [Fact]
    public async Task Unreadable_certificate_exits_with_code_78() =>
        await ExpectAsync(78, "TLS_CERT_FILE /no/such.pem", ("TLS_CERT_FILE", "/no/such.pem"), ("TLS_KEY_FILE", "/no/such.key"));

    [Fact]
    public async Task Port_in_use_exits_with_69_and_keeps_secrets_for_later()
    {
        using (var listener = new TcpListener(IPAddress.Loopback, 0))
        {
            listener.Start();
            var port = ((IPEndPoint)listener.LocalEndpoint).Port.ToString(CultureInfo.InvariantCulture);
            await ExpectAsync(
                69, $"port {port} is already in use by .* .pid {Environment.ProcessId}.", ("PORT", port), ("BIND_ADDRESS", "127.0.0.1"));
        }

        await using var server = await StartAsync();
        Assert.Contains(server.Lines, line => line.Contains("http://admin:", StringComparison.Ordinal));
        Assert.Equal(0, await server.StopAsync(Token));
    }

    [Fact]
    public async Task Second_process_exits_with_75_until_the_first_is_killed()
    {
        await using (var first = await StartAsync())
        {
            await ExpectAsync(75, "another Sluice is using the configuration folder");
            await first.KillAsync();
        }

        await using var second = await StartAsync();
        Assert.Equal(0, await second.StopAsync(Token));
    }

    private Task<ServerProcess> StartAsync() =>
        ServerProcess.StartAsync(ServerProcess.Executable, [], _temporary.Root, ServerProcess.FreePort(), new Dictionary<string, string>(), Token);

    private async Task ExpectAsync(int exitCode, string pattern, params (string Name, string Value)[] variables)
    {
        var environment = new Dictionary<string, string> { ["CONFIG_PATH"] = _temporary.Root, ["PORT"] = "0" };
        foreach (var (name, value) in variables)
            environment[name] = value;

        var result = await ExternalProgram.RunAsync(ServerProcess.Executable, [], environment, Token);

        Assert.Equal(exitCode, result.ExitCode);
        var line = Assert.Single(result.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Matches("^sluice: .*" + pattern, line);
        Assert.DoesNotContain("   at ", result.Text, StringComparison.Ordinal);
    }
}
