using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>rclone requests a file with confirmed damage only once, because it does not retry 410 (F28).</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class DamagedFileTests
{
    [Fact]
    public async Task Rclone_does_not_retry_a_410_response()
    {
        ExternalProgram.Require("rclone");
        var cancel = TestContext.Current.CancellationToken;
        using var folder = new ScratchFolder();
        await using var server = await ServerProcess.StartAsync(folder.File("data"), null, cancel);
        var path = await LargeFolder.AddAsync(folder.File("data"), 1);
        var password = (await ExternalProgram.RunAsync("rclone", ["obscure", ServerProcess.Password], null, cancel)).Succeeded().Text.Trim();
        var remote = new Dictionary<string, string>
        {
            ["RCLONE_CONFIG"] = folder.File("rclone.conf"),
            ["RCLONE_CONFIG_SLUICE_TYPE"] = "webdav",
            ["RCLONE_CONFIG_SLUICE_URL"] = $"http://127.0.0.1:{server.Port}",
            ["RCLONE_CONFIG_SLUICE_USER"] = ServerProcess.User,
            ["RCLONE_CONFIG_SLUICE_PASS"] = password,
        };

        var result = await ExternalProgram.RunAsync("rclone", ["cat", $"sluice:{path}"], remote, cancel);

        Assert.Contains("410", result.Errors, StringComparison.Ordinal);
        await server.LineAsync(line => line.Contains("Could not open a file (Gone)", StringComparison.Ordinal), cancel);
        Assert.Single(server.Lines, line => line.Contains("Could not open a file", StringComparison.Ordinal));
    }
}
