namespace Sluice.Server.Tests.EndToEnd;

/// <summary>The rclone remote <c>sluice:</c>, defined by environment variables so that no user's configuration is read or written.</summary>
internal static class RcloneRemote
{
    /// <summary>Returns the variables of the remote for the server of a set.</summary>
    public static Task<Dictionary<string, string>> ForAsync(MockedServer set, CancellationToken cancel) =>
        ForAsync(set.File("rclone.conf"), $"http://127.0.0.1:{set.Server.Port}", ServerProcess.User, ServerProcess.Password, cancel);

    /// <summary>Returns the variables of the remote for a server.</summary>
    public static async Task<Dictionary<string, string>> ForAsync(
        string config, string address, string user, string password, CancellationToken cancel)
    {
        var obscured = (await ExternalProgram.RunAsync("rclone", ["obscure", password], null, cancel)).Succeeded().Text.Trim();
        return new Dictionary<string, string>
        {
            ["RCLONE_CONFIG"] = config,
            ["RCLONE_CONFIG_SLUICE_TYPE"] = "webdav",
            ["RCLONE_CONFIG_SLUICE_URL"] = address,
            ["RCLONE_CONFIG_SLUICE_USER"] = user,
            ["RCLONE_CONFIG_SLUICE_PASS"] = obscured,
        };
    }
}
