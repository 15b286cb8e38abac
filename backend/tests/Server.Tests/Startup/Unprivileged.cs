using System.Diagnostics;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>
/// Runs the server as a user with restricted permissions: the user of the tests, or uid 65534 if the tests run as root.
/// </summary>
internal static class Unprivileged
{
    private const string Nobody = "65534";

    /// <summary>The command prefix that changes the user; the program keeps the process id.</summary>
    private static string[] Prefix { get; } = Environment.IsPrivilegedProcess
        ? ["setpriv", "--reuid", Nobody, "--regid", Nobody, "--clear-groups"]
        : [];

    /// <summary>Skips the test if no such user is available.</summary>
    public static void Require()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs the permissions of Linux");
        if (Environment.IsPrivilegedProcess)
            ExternalProgram.Require("setpriv", "chown");
    }

    /// <summary>Makes that user the owner of a folder and its contents.</summary>
    public static void Own(string path)
    {
        if (!Environment.IsPrivilegedProcess)
            return;
        using var process = Process.Start("chown", ["-R", $"{Nobody}:{Nobody}", path]);
        process.WaitForExit();
        Assert.Equal(0, process.ExitCode);
    }

    public static void SetMode(string path, int mode)
    {
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(path, (UnixFileMode)mode);
    }

    public static int ModeOf(string path) => OperatingSystem.IsWindows() ? 0 : (int)File.GetUnixFileMode(path);

    /// <summary>Returns the command and the arguments that start the built server.</summary>
    public static (string Command, IReadOnlyList<string> Arguments) Server() =>
        Prefix is [var command, .. var arguments] ? (command, [.. arguments, ServerProcess.Executable]) : (ServerProcess.Executable, []);
}
