using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Goes on as the build beside this one that is compiled for the widest instructions of the CPU (F44). A build that is compiled ahead
/// answers <c>IsSupported</c> for wide vectors when it is compiled, so that the one that runs everywhere has none of them.
/// </summary>
internal static unsafe partial class WiderBuild
{
    private const string CpuDescription = "/proc/cpuinfo";

    // The flags stand in the part about the first CPU; what follows it are the other CPUs.
    private const int MostRead = 16 * 1024;

    private static readonly string[] Wide = ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"];

    // The widest first. CPUs that have AVX-512 and not its VBMI2 lower their clock for it, and have no kernel that would be worth that.
    private static readonly (string Level, string[] Flags)[] Builds =
    [
        ("v4", [.. Wide, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vbmi2"]),
        ("v3", Wide),
    ];

    /// <summary>The instructions that this process is compiled for.</summary>
    public static string Name => RuntimeFeature.IsDynamicCodeSupported ? "this CPU, while running"
        : RuntimeInformation.ProcessArchitecture != Architecture.X64 ? RuntimeInformation.RuntimeIdentifier
        : Avx512F.IsSupported ? "x86-64-v4"
        : Avx2.IsSupported ? "x86-64-v3"
        : "x86-64-v2";

    /// <summary>
    /// Replaces the program of this process, which keeps its id, its variables and its arguments. Returns where there is nothing to
    /// replace it by. To be called before anything else: what the process has begun by then ends.
    /// </summary>
    /// <param name="environment">The variables of the process.</param>
    public static void Continue(ProcessEnvironment environment)
    {
        if (RuntimeFeature.IsDynamicCodeSupported || Avx2.IsSupported || !OperatingSystem.IsLinux()
            || RuntimeInformation.ProcessArchitecture != Architecture.X64 || Environment.ProcessPath is not { } own)
            return;

        foreach (var level in Levels(ReadFlags(), ProcessOptions.ReadInstructions(environment)))
            Execute($"{own}.{level}", Environment.GetCommandLineArgs());
    }

    /// <summary>The levels that a CPU has and that are wanted, the widest first.</summary>
    /// <param name="description">What the system tells about the CPUs.</param>
    /// <param name="most">The highest level that is wanted; null for any.</param>
    internal static IEnumerable<string> Levels(string description, string? most)
    {
        const string title = "\nflags";
        var start = description.IndexOf(title, StringComparison.Ordinal);
        if (start < 0)
            return [];
        var end = description.IndexOf('\n', start + 1);

        // A line that is cut may end in the middle of a word.
        var line = end < 0 ? "" : description[(start + title.Length)..end];
        var flags = line.Split([' ', '\t', ':'], StringSplitOptions.RemoveEmptyEntries).ToHashSet();
        return Builds.Where(build => string.CompareOrdinal(build.Level, most ?? build.Level) <= 0 && build.Flags.All(flags.Contains)).Select(build => build.Level);
    }

    private static string ReadFlags()
    {
        try
        {
            using var reader = new StreamReader(CpuDescription);
            var text = new char[MostRead];
            return new string(text, 0, reader.ReadBlock(text));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    /// <summary>Returns only where the file cannot be executed, because it is not there or not meant for this system.</summary>
    private static void Execute(string file, string[] arguments)
    {
        // The call takes an array that ends in null; it ends this program or does nothing.
        var texts = new nint[arguments.Length + 1];
        for (var i = 0; i < arguments.Length; i++)
            texts[i] = Marshal.StringToCoTaskMemUTF8(arguments[i]);
        fixed (nint* first = texts)
            _ = Execv(file, first);
        foreach (var text in texts)
            Marshal.FreeCoTaskMem(text);
    }

    [LibraryImport("libc", EntryPoint = "execv", StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Execv(string file, nint* arguments);
}
