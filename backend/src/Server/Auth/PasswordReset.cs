using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// Removes the administrator's login where <c>RESET_ADMIN_PASSWORD</c> asks for it. A file in the data folder remembers that it was done, so
/// that the variable may stay over restarts: it counts again after a start without it.
/// </summary>
/// <remarks>Used by one start, before there is a setup.</remarks>
internal sealed class PasswordReset(DataFolder folder, ProcessOptions process, AdminStore admins, ILogger<PasswordReset> logger)
{
    private string Mark => Path.Combine(folder.Root, "admin-reset-done");

    /// <summary>Removes the login, or notes that the variable is absent.</summary>
    public async Task ApplyAsync(CancellationToken cancellationToken)
    {
        if (!process.ResetAdminPassword)
        {
            File.Delete(Mark);
            return;
        }

        if (File.Exists(Mark))
        {
            AuthLog.ResetIgnored(logger);
            return;
        }

        if (admins.Admin is not null)
        {
            await admins.RemoveAccountAsync(cancellationToken);
            AuthLog.LoginRemoved(logger);
        }

        // Behind the removal: the next start after one that died between the two finds no login and marks it.
        await File.WriteAllTextAsync(Mark, "RESET_ADMIN_PASSWORD counts again after a start without it.\n", cancellationToken);
    }
}
