using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Switches the process to another user (S28). A container started as root names it by <c>PUID</c> and <c>PGID</c>, because the image has no
/// shell that could switch.
/// </summary>
internal static class ProcessUser
{
    /// <summary>
    /// Gives the data folder itself, not its content, to that user and switches. Does nothing unless the process is root and another user is
    /// named. Call before any file is opened.
    /// </summary>
    /// <exception cref="StartRefusedException">The process may not switch to the user.</exception>
    public static void Become(ProcessEnvironment environment)
    {
        var options = ProcessOptions.Read(environment);
        if (OperatingSystem.IsWindows() || options.RunAs is not var (user, group) || user == 0)
            return;

        var wanted = string.Create(CultureInfo.InvariantCulture, $"{user}:{group}");
        if (!Environment.IsPrivilegedProcess)
        {
            // The image has its own default user, so no warning for its id if the container runs as another one.
            if (user != ProcessOptions.ImageUser && PosixCalls.EffectiveUser() != user.ToString(CultureInfo.InvariantCulture))
                environment.Warn($"PUID has no effect, because Sluice was started as uid {PosixCalls.EffectiveUser()} and not as root; start it as user {wanted}");
            return;
        }

        try
        {
            Directory.CreateDirectory(options.ConfigPath);
            PosixCalls.GiveTo(options.ConfigPath, user, group);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The start continues with the same folder as the new user, and reports the fault there.
        }

        if (PosixCalls.BecomeUser(user, group) is var errno and not 0)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"started as root and may not become {wanted} ({Marshal.GetPInvokeErrorMessage(errno)}); start the container as that user (user: \"{wanted}\"), or leave it the capabilities CHOWN, SETGID and SETUID");
        }
    }
}
