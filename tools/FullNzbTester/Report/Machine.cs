using System.Reflection;
using System.Runtime.InteropServices;

namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Build and machine of a run, so that only comparable figures are compared.</summary>
internal sealed record Machine(string Version, string? Commit, string Cpu, int Cores, string OperatingSystem, string Runtime)
{
    public static Machine Current()
    {
        // version+commit, as the SDK writes it for a build from a working copy
        var built = typeof(Machine).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion.Split('+', 2) ?? ["0"];
        return new Machine(built[0], built.Length > 1 ? built[1] : null, ReadCpu(), Environment.ProcessorCount, RuntimeInformation.OSDescription, RuntimeInformation.FrameworkDescription);
    }

    private static string ReadCpu()
    {
        const string File = "/proc/cpuinfo";
        const string Field = "model name";
        if (!System.IO.File.Exists(File))
            return RuntimeInformation.ProcessArchitecture.ToString();
        var line = System.IO.File.ReadLines(File).FirstOrDefault(line => line.StartsWith(Field, StringComparison.Ordinal));
        return line?.Split(':', 2)[^1].Trim() ?? RuntimeInformation.ProcessArchitecture.ToString();
    }
}
