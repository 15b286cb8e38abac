using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>
/// Removes the administrator's login if <c>RESET_ADMIN_PASSWORD</c> is set. A marker file prevents a second reset, so that the variable may stay set. A startup
/// without the variable deletes the marker. Runs once per startup, before the setup.
/// </summary>
internal sealed class PasswordReset(DataFolder folder, ProcessOptions process, AdminStore admins, ILogger<PasswordReset> logger)
{
    private string Mark => Path.Combine(folder.Root, "admin-reset-done");

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

        // Write the marker last, so that an earlier crash is harmless: the next startup finds no login and writes the marker.
        await File.WriteAllTextAsync(Mark, "RESET_ADMIN_PASSWORD counts again after a start without it.\n", cancellationToken);
    }
}
