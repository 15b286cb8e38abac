using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>Messages about access; ids 1300 to 1349.</summary>
internal static partial class AuthLog
{
    [LoggerMessage(1300, LogLevel.Warning, "Wrong {What} from {Sender}")]
    public static partial void Refused(ILogger logger, string what, AddressPrefix sender);

    [LoggerMessage(1301, LogLevel.Warning, "DISABLE_WEBDAV_AUTH has no effect because webdav.no-auth-networks is empty: everyone needs a password")]
    public static partial void NoNetworks(ILogger logger);

    [LoggerMessage(1304, LogLevel.Warning, "There is no administrator yet. Open the setup in a browser. The code is in the startup output and in the file setup-code in the data folder")]
    public static partial void SetupNeeded(ILogger logger);

    [LoggerMessage(1310, LogLevel.Warning, "Open /rescue in a browser to restore a backup. The code is in the startup output and in the file rescue-code in the data folder")]
    public static partial void RescueNeeded(ILogger logger);

    [LoggerMessage(1306, LogLevel.Warning, "Removed the administrator's login because RESET_ADMIN_PASSWORD is set. Remove the variable now. Films and named keys are unchanged; the setup offers to revoke the keys")]
    public static partial void LoginRemoved(ILogger logger);

    [LoggerMessage(1307, LogLevel.Warning, "Ignored RESET_ADMIN_PASSWORD: the login was already removed. Start once without the variable to use it again")]
    public static partial void ResetIgnored(ILogger logger);

    [LoggerMessage(1308, LogLevel.Warning, "Could not rehash the WebDAV password: {Cause}. Retrying at the next login")]
    public static partial void NotRenewed(ILogger logger, string cause);

    [LoggerMessage(1309, LogLevel.Warning, "Refused a request from a network that needs no password: {Reason}")]
    public static partial void PassRefused(ILogger logger, string reason);

    [LoggerMessage(1303, LogLevel.Warning, "WebDAV needs no password from {Networks}")]
    public static partial void NetworksOpen(ILogger logger, string networks);
}
