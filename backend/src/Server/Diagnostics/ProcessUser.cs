using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// The user that the process goes on as (S28). A container that is started as root names another one by <c>PUID</c> and <c>PGID</c>;
/// its image has no shell that could do this before.
/// </summary>
internal static class ProcessUser
{
    /// <summary>
    /// Gives the data folder to that user, without what is in it, and becomes the user. Nothing happens where the process is not root, or
    /// no user but root is named. To be called before a file is opened.
    /// </summary>
    /// <param name="environment">The variables of the process; gets a warning where they ask for what cannot be done.</param>
    /// <exception cref="StartRefusedException">The process may not become the user.</exception>
    public static void Become(ProcessEnvironment environment)
    {
        var options = ProcessOptions.Read(environment);
        if (OperatingSystem.IsWindows() || options.RunAs is not var (user, group) || user == 0)
            return;

        var wanted = string.Create(CultureInfo.InvariantCulture, $"{user}:{group}");
        if (!Environment.IsPrivilegedProcess)
        {
            // The image names its own user, which a container may leave by starting as another one.
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
            // The start goes on to the same folder as the other user, and says what is wrong with it.
        }

        if (PosixCalls.BecomeUser(user, group) is var errno and not 0)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"started as root and may not become {wanted} ({Marshal.GetPInvokeErrorMessage(errno)}); start the container as that user (user: \"{wanted}\"), or leave it the capabilities CHOWN, SETGID and SETUID");
        }
    }
}
