namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The remote <c>sluice:</c> of rclone, by variables: nobody's configuration is read or written.</summary>
internal static class RcloneRemote
{
    /// <summary>The variables with which rclone finds the server of the set.</summary>
    public static async Task<Dictionary<string, string>> ForAsync(MockedServer set, CancellationToken cancel)
    {
        var obscured = (await ExternalProgram.RunAsync("rclone", ["obscure", ServerProcess.Password], null, cancel)).Succeeded().Text.Trim();
        return new Dictionary<string, string>
        {
            ["RCLONE_CONFIG"] = set.File("rclone.conf"),
            ["RCLONE_CONFIG_SLUICE_TYPE"] = "webdav",
            ["RCLONE_CONFIG_SLUICE_URL"] = $"http://127.0.0.1:{set.Server.Port}",
            ["RCLONE_CONFIG_SLUICE_USER"] = ServerProcess.User,
            ["RCLONE_CONFIG_SLUICE_PASS"] = obscured,
        };
    }
}
