using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Files of the watch folder that the server's user may not read or remove (IMP-7).</summary>
public sealed class WatchedFileFaultTests : IDisposable
{
    private readonly TemporaryFolder _data = new();
    private readonly TemporaryFolder _files = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Category => Path.Combine(_files.Root, "tv");

    public void Dispose()
    {
        Unprivileged.SetMode(Category, 0b111_000_000);
        _data.Dispose();
        _files.Dispose();
    }

    [Fact]
    public async Task Inaccessible_files_are_reported_once_and_not_added_again()
    {
        Unprivileged.Require();
        Directory.CreateDirectory(Category);
        var (kept, closed) = (Path.Combine(Category, "Kept {{pw}}.nzb"), Path.Combine(_files.Root, "Closed.nzb"));
        await File.WriteAllBytesAsync(kept, NzbText.Of("a.mkv"), Token);
        await File.WriteAllBytesAsync(closed, NzbText.Of("b.mkv"), Token);
        Unprivileged.Own(_data.Root);
        Unprivileged.Own(_files.Root);
        Unprivileged.SetMode(closed, 0);
        Unprivileged.SetMode(Category, 0b101_000_000);

        for (var start = 0; start < 2; start++)
        {
            await using var server = await StartAsync();
            using var client = new SluiceClient(server);
            await server.LineAsync(line => line.Contains("Closed cannot be read: permission denied", StringComparison.Ordinal), Token);
            await server.LineAsync(line => line.Contains("Kept is added and cannot be removed", StringComparison.Ordinal), Token);
            // Time for at least one more scan.
            await Task.Delay(TimeSpan.FromSeconds(start == 0 ? 6 : 0), TimeProvider.System, Token);

            Assert.Equal(["Kept"], await client.QueueAsync(Token));
            Assert.Equal(2, server.Lines.Count(line => line.Contains("Skipping a file in the watch folder", StringComparison.Ordinal)));
            Assert.DoesNotContain(server.Lines, line => line.Contains("pw}}", StringComparison.Ordinal));
            Assert.Equal(0, await server.StopAsync(Token));
        }

        Assert.True(File.Exists(kept) && File.Exists(closed));
    }

    private Task<ServerProcess> StartAsync()
    {
        var (command, arguments) = Unprivileged.Server();
        var settings = new Dictionary<string, string>
        {
            ["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User,
            ["SLUICE_CONFIG__WEBDAV__PASS"] = ServerProcess.Password,
            ["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey,
            ["SLUICE_CONFIG__QUEUE__WATCH_DIR"] = _files.Root,
        };
        return ServerProcess.StartAsync(command, arguments, _data.Root, ServerProcess.FreePort(), settings, Token);
    }
}
