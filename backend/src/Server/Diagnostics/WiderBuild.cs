using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Intrinsics.X86;
using Sluice.Server.Settings;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// Switches to the neighboring build for this CPU's widest instructions (F44). The build for all CPUs cannot use wide vectors, because ahead-of-time
/// compilation fixes <c>IsSupported</c>.
/// </summary>
internal static class WiderBuild
{
    private const string CpuDescription = "/proc/cpuinfo";

    // Read only the first CPU's section, because it contains the flags.
    private const int MostRead = 16 * 1024;

    private static readonly string[] Wide = ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"];

    // Widest first. CPUs with AVX-512 but without VBMI2 lower their clock for AVX-512, so no kernel would gain enough.
    private static readonly (string Level, string[] Flags)[] Builds =
    [
        ("v4", [.. Wide, "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vbmi2"]),
        ("v3", Wide),
    ];

    /// <summary>The instruction set of this build, for the log and the system page.</summary>
    public static string Name => RuntimeFeature.IsDynamicCodeSupported ? "this CPU, while running"
        : RuntimeInformation.ProcessArchitecture != Architecture.X64 ? RuntimeInformation.RuntimeIdentifier
        : Avx512F.IsSupported ? "x86-64-v4"
        : Avx2.IsSupported ? "x86-64-v3"
        : "x86-64-v2";

    /// <summary>
    /// Replaces this process's program. The process keeps its id, environment and arguments. Returns if there is no suitable build. Must be called first,
    /// because everything started earlier is lost.
    /// </summary>
    public static void ReplaceProcess(ProcessEnvironment environment)
    {
        if (RuntimeFeature.IsDynamicCodeSupported || Avx2.IsSupported || !OperatingSystem.IsLinux()
            || RuntimeInformation.ProcessArchitecture != Architecture.X64 || Environment.ProcessPath is not { } own)
            return;

        foreach (var level in Levels(ReadFlags(), ProcessOptions.ReadInstructions(environment)))
            ProcessImage.Replace($"{own}.{level}", Environment.GetCommandLineArgs());
    }

    /// <summary>Returns the instruction levels that the CPU supports, widest first, up to <paramref name="most"/> if that is set.</summary>
    internal static IEnumerable<string> Levels(string description, string? most)
    {
        const string title = "\nflags";
        var start = description.IndexOf(title, StringComparison.Ordinal);
        if (start < 0)
            return [];
        var end = description.IndexOf('\n', start + 1);

        // Ignore a truncated line, because it may end in the middle of a word.
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
}
