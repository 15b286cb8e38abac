using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Server.Database;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Switches the process to another user (S28). A container starts as root and names the user in <c>PUID</c> and <c>PGID</c>, because the image has no shell
/// that could switch users.
/// </summary>
internal static class ProcessUser
{
    private const string UserMap = "/proc/self/uid_map";

    /// <summary>
    /// Makes that user the owner of the data folder, but not of its contents, and switches to the user. Does nothing unless the process is root and a user is
    /// named. Must be called before any file is opened.
    /// </summary>
    /// <exception cref="StartRefusedException">The process is not allowed to switch to the user, or the folder contains another user's database.</exception>
    public static void Become(ProcessEnvironment environment)
    {
        var options = ProcessOptions.Read(environment);
        if (OperatingSystem.IsWindows() || options.RunAs is not var (user, group))
            return;

        var wanted = string.Create(CultureInfo.InvariantCulture, $"{user}:{group}");
        if (!Environment.IsPrivilegedProcess)
        {
            // Do not warn if the user is the image's default, because the owner did not choose it.
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

    /// <summary>Whether a user id map in the format of <c>/proc/self/uid_map</c> maps root to a single ordinary user of the machine.</summary>
    /// <remarks>A map of many users starting at 0 belongs to a system container, where PUID has its usual meaning.</remarks>
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
            // Systems without user namespaces lack this file.
            return false;
        }
    }

    /// <summary>Makes the user the owner of the folder, unless that would lock out the owner of a database in it.</summary>
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
            // Even root may lack the capability to open files of other users.
            if (user != 0 || PosixCalls.FindObstacle(folder, write: true) != 0)
                PosixCalls.GiveTo(folder, user, group);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // Continue, because startup uses the same folder as the new user and then reports the fault.
        }
    }
}
