using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>Messages about access; ids 1300 to 1349.</summary>
internal static partial class AuthLog
{
    [LoggerMessage(1300, LogLevel.Warning, "Wrong {What} from {Sender}")]
    public static partial void Refused(ILogger logger, string what, AddressPrefix sender);

    [LoggerMessage(1301, LogLevel.Warning, "DISABLE_WEBDAV_AUTH has no effect without webdav.no-auth-networks: everybody needs a password")]
    public static partial void NoNetworks(ILogger logger);

    [LoggerMessage(1304, LogLevel.Warning, "There is no administrator yet. The code for the setup is printed at the end of the start, and stands in the file setup-code of the data folder")]
    public static partial void SetupNeeded(ILogger logger);

    [LoggerMessage(1306, LogLevel.Warning, "The administrator's login was removed, as RESET_ADMIN_PASSWORD asked for. Take the variable away now. Films are as they were, and so are named keys: the setup offers to end them")]
    public static partial void LoginRemoved(ILogger logger);

    [LoggerMessage(1307, LogLevel.Warning, "RESET_ADMIN_PASSWORD has done its work and is ignored until a start without it")]
    public static partial void ResetIgnored(ILogger logger);

    [LoggerMessage(1308, LogLevel.Warning, "The WebDAV password could not be hashed anew: {Cause}")]
    public static partial void NotRenewed(ILogger logger, string cause);

    [LoggerMessage(1309, LogLevel.Warning, "A request from a network without a password was refused: {Reason}")]
    public static partial void PassRefused(ILogger logger, string reason);

    [LoggerMessage(1303, LogLevel.Warning, "WebDAV needs no password from {Networks}")]
    public static partial void NetworksOpen(ILogger logger, string networks);
}
