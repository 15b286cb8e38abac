using System.Diagnostics;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>
/// Runs the server as a user that is bound by permissions: the user of the tests, or uid 65534 where the tests run as root.
/// </summary>
internal static class Unprivileged
{
    private const string Nobody = "65534";

    /// <summary>What goes before the program, which keeps its process id.</summary>
    private static string[] Prefix { get; } = Environment.IsPrivilegedProcess
        ? ["setpriv", "--reuid", Nobody, "--regid", Nobody, "--clear-groups"]
        : [];

    /// <summary>Skips the test where no such user can be had.</summary>
    public static void Require()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs the permissions of Linux");
        if (Environment.IsPrivilegedProcess)
            ExternalProgram.Require("setpriv", "chown");
    }

    /// <summary>Gives a folder and all in it to that user.</summary>
    public static void Own(string path)
    {
        if (!Environment.IsPrivilegedProcess)
            return;
        using var process = Process.Start("chown", ["-R", $"{Nobody}:{Nobody}", path]);
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
    }

    /// <summary>Sets the mode of a file or folder.</summary>
    public static void SetMode(string path, int mode)
    {
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, (UnixFileMode)mode);
    }

    /// <summary>The mode of a file or folder.</summary>
    public static int ModeOf(string path) => OperatingSystem.IsWindows() ? 0 : (int)File.GetUnixFileMode(path);

    /// <summary>Command and arguments of the built server.</summary>
    public static (string Command, IReadOnlyList<string> Arguments) Server() =>
        Prefix is [var command, .. var arguments] ? (command, [.. arguments, ServerProcess.Executable]) : (ServerProcess.Executable, []);
}
