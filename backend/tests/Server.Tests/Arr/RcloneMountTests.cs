using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Arr;
using Sluice.Server.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Arr;

/// <summary>A real rclone mounts the tree, and a Sonarr that reads this machine's disk looks for the probe link in it (DAV-18).</summary>
public sealed class RcloneMountTests : IAsyncDisposable
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(50);

    private readonly TemporaryFolder _temporary = new();
    private readonly ScratchFolder _scratch = new();

    private string Mount => _scratch.File("mount");

    public async ValueTask DisposeAsync()
    {
        await UnmountAsync();
        _scratch.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public async Task Mount_check_distinguishes_no_mount_no_links_and_links()
    {
        ExternalProgram.Require("rclone", "fusermount3");
        Assert.SkipUnless(File.Exists("/dev/fuse") && Environment.IsPrivilegedProcess, "mounting needs /dev/fuse and root");
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        limit.CancelAfter(Limit);
        var cancel = limit.Token;
        Directory.CreateDirectory(Mount);
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["MOUNT_DIR"] = Mount });
        await using var replica = await ArrServerReplica.StartAsync("Sonarr");
        replica.ReadsDisk = true;

        var absent = await CheckAsync(server, replica, cancel);
        Assert.StartsWith($"Sonarr has the folder {Mount}, but not the mount in it.", absent.Sentence, StringComparison.Ordinal);

        await MountAsync(server, cancel);
        var text = await CheckAsync(server, replica, cancel);
        var version = Assert.Single(server.Services.GetRequiredService<RcloneClients>().Snapshot());
        Assert.False(text.Sees);
        var cause = version == RcloneClients.Unstated ? "because rclone is older than 1.70.3, like the packages of Debian and Ubuntu, or runs without --links."
            : version < RcloneClients.FirstWithLinks ? $"because rclone {version} is too old."
            : "because rclone runs without --links.";
        Assert.StartsWith($"Sonarr sees files that end in .rclonelink instead of links, {cause}", text.Sentence, StringComparison.Ordinal);

        // A newer rclone shows the text file as a link with this target.
        var shown = Path.Combine(_scratch.File("shown"), PathDoctor.ProbePath);
        Directory.CreateDirectory(Path.GetDirectoryName(shown)!);
        File.CreateSymbolicLink(shown, await File.ReadAllTextAsync(Path.Combine(Mount, PathDoctor.ProbePath + PathDoctor.LinkText), cancel));
        Assert.StartsWith("This is Sluice.", await File.ReadAllTextAsync(shown, cancel), StringComparison.Ordinal);
        replica.Mappings.Add(("127.0.0.1", Mount + "/", _scratch.File("shown") + "/"));
        var proved = await CheckAsync(server, replica, cancel);
        Assert.True(proved.Sees, proved.Sentence);

        // The link still exists, but its target does not.
        await UnmountAsync();
        var dangling = await CheckAsync(server, replica, cancel);
        Assert.Equal((false, $"- {Mount}:{Mount}:rslave"), (dangling.Sees, dangling.VolumeLine));
    }

    private static async Task<PathFinding> CheckAsync(RunningServer server, ArrServerReplica replica, CancellationToken cancel)
    {
        var target = new ArrServer("", ArrKind.Sonarr, replica.Name, replica.Url, ArrServerReplica.Key, "tv");
        var connection = await server.Services.GetRequiredService<ArrConnector>()
            .ConnectAsync(target, [new("127.0.0.1", server.Address.Port, false, "")], null, cancel);
        return await server.Services.GetRequiredService<PathDoctor>().CheckAsync(connection.Server!, cancel);
    }

    /// <summary>Mounts without <c>--links</c>, and waits until the tree is mounted.</summary>
    private async Task MountAsync(RunningServer server, CancellationToken cancel)
    {
        var remote = await RcloneRemote.ForAsync(_scratch.File("rclone.conf"), server.Address.ToString(), "admin", RunningServer.Password, cancel);
        (await ExternalProgram.RunAsync("rclone", ["mount", "sluice:", Mount, "--daemon"], remote, cancel)).Succeeded();
        while (!File.Exists(Path.Combine(Mount, ".health")))
            await Task.Delay(Poll, TimeProvider.System, cancel);
    }

    private async Task UnmountAsync()
    {
        if (Directory.Exists(Mount))
            await ExternalProgram.RunAsync("fusermount3", ["-u", "-z", Mount], null, CancellationToken.None);
    }
}
