using System.Runtime.InteropServices;

namespace Sluice.Server.Diagnostics;

/// <summary>Replaces this process's program with another, or restarts the program. The process keeps its id, environment and output.</summary>
internal static unsafe partial class ProcessImage
{
    private const string OwnArguments = "/proc/self/cmdline";

    /// <summary>Runs another program in this process. Returns only if the file is missing or not executable on this system.</summary>
    public static void Replace(string file, string[] arguments)
    {
        // execv expects a null-terminated array. It replaces the process, or returns without effect.
        var texts = new nint[arguments.Length + 1];
        for (var i = 0; i < arguments.Length; i++)
            texts[i] = Marshal.StringToCoTaskMemUTF8(arguments[i]);
        fixed (nint* first = texts)
            _ = Execv(file, first);
        foreach (var text in texts)
            Marshal.FreeCoTaskMem(text);
    }

    /// <summary>Restarts the same program. Returns only if the system does not support this, as on Windows.</summary>
    public static void Restart()
    {
        if (!OperatingSystem.IsWindows() && Environment.ProcessPath is { } own)
            Replace(own, ReadArguments());
    }

    /// <summary>Returns the process's original arguments, because .NET omits the library path of a program run by <c>dotnet</c>.</summary>
    private static string[] ReadArguments()
    {
        try
        {
            return File.Exists(OwnArguments) ? File.ReadAllText(OwnArguments).TrimEnd('\0').Split('\0') : Environment.GetCommandLineArgs();
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return Environment.GetCommandLineArgs();
        }
    }

    [LibraryImport("libc", EntryPoint = "execv", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Execv(string file, nint* arguments);
}

/// <summary>Stops the server and restarts it in the same process, because a restore happens at startup (OPS-11).</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProcessRestart(IHostApplicationLifetime lifetime)
{
    private volatile bool _isRequested;

    public bool IsRequested => _isRequested;

    /// <summary>Begins the shutdown. Running responses get the same time as in any other shutdown.</summary>
    public void Request()
    {
        _isRequested = true;
        lifetime.StopApplication();
    }

    /// <summary>Begins the shutdown after a response has been sent.</summary>
    public void RequestAfter(HttpResponse answer) => answer.OnCompleted(() =>
    {
        Request();
        return Task.CompletedTask;
    });
}
