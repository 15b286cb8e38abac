using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Switches the process to another user (S28). A container starts as root and gives the user in <c>PUID</c> and <c>PGID</c>, because the image has no shell
/// that could switch.
/// </summary>
internal static class ProcessUser
{
    private const string UserMap = "/proc/self/uid_map";

    /// <summary>
    /// Gives the data folder, but not its content, to that user and switches. Does nothing unless the process is root and a user is named. Must be called
    /// before any file is opened.
    /// </summary>
    /// <exception cref="StartRefusedException">The process may not switch to the user, or the folder has a database of another user.</exception>
    public static void Become(ProcessEnvironment environment)
    {
        var options = ProcessOptions.Read(environment);
        if (OperatingSystem.IsWindows() || options.RunAs is not var (user, group))
            return;

        var wanted = string.Create(CultureInfo.InvariantCulture, $"{user}:{group}");
        if (!Environment.IsPrivilegedProcess)
        {
            // Do not warn about the image's default user, because nobody chose it.
            if (user is not (0 or ProcessOptions.ImageUser) && PosixCalls.EffectiveUser() != user.ToString(CultureInfo.InvariantCulture))
                environment.Warn($"PUID has no effect, because Sluice was started as uid {PosixCalls.EffectiveUser()} and not as root; start it as user {wanted}, or as root");
            return;
        }

        if (user != 0 && IsRootOfRootlessEngine() && PosixCalls.OwnerOf(options.ConfigPath) is null or (0, _))
        {
            environment.Warn($"PUID={user} is not used, because under a rootless engine it would give {options.ConfigPath} to another user of the machine; set PUID=0 and PGID=0");
            (user, group) = (0, 0);
        }

        TakeFolder(options.ConfigPath, user, group);
        if (user == 0)
            return;
        if (PosixCalls.BecomeUser(user, group) is var errno and not 0)
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"started as root and may not become {wanted} ({Marshal.GetPInvokeErrorMessage(errno)}); start the container as that user (user: \"{wanted}\"), or leave it the capabilities CHOWN, SETGID and SETUID");
        }

        environment.StartedAsRoot = true;
    }

    /// <summary>Whether a user id map in the form of <c>/proc/self/uid_map</c> maps root to a single ordinary user of the machine.</summary>
    /// <remarks>A map of many users from 0 on belongs to a system container, in which PUID has its usual meaning.</remarks>
    internal static bool IsOneUserAsRoot(string map) =>
        map.Split('\n').Any(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries) is ["0", not "0", "1"]);

    private static bool IsRootOfRootlessEngine()
    {
        try
        {
            return IsOneUserAsRoot(File.ReadAllText(UserMap));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // A system without user namespaces lacks this file.
            return false;
        }
    }

    /// <summary>Gives the folder to the user, unless that would lock out the owner of the database in it.</summary>
    private static void TakeFolder(string folder, uint user, uint group)
    {
        var database = new DataFolder(folder).Database;
        if (File.Exists(database) && !(user == 0 ? PosixCalls.FindObstacle(database, write: true) == 0 : PosixCalls.MayWrite(database, user, group)))
        {
            throw new StartRefusedException(
                StartRefusedException.BadConfiguration,
                $"{database} is not readable and writable by uid {user}{PosixCalls.DescribeOwner(database)}{PosixCalls.AdviseOnOwner(folder, database, user, group, startedAsRoot: true)}");
        }

        try
        {
            Directory.CreateDirectory(folder);
            // Even root may lack the capability to open other users' files.
            if (user != 0 || PosixCalls.FindObstacle(folder, write: true) != 0)
                PosixCalls.GiveTo(folder, user, group);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Continue, because startup uses the same folder as the new user and reports the fault there.
        }
    }
}
