using System.Diagnostics;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>CPUs with fewer instructions than this one, each in a process in which the runtime has them switched off.</summary>
public sealed class SwitchedOffKernelTests
{
    private const string Expected = "SLUICE_TEST_EXPECTED_KERNELS";

    // From the widest to none; what a switch takes away is everything from its width up.
    private static readonly (string Switch, string[] Without)[] Switches =
    [
        ("DOTNET_EnableAVX512v3", ["AVX-512 VBMI2"]),
        ("DOTNET_EnableAVX2", ["AVX-512 VBMI2", "AVX2"]),
        ("DOTNET_EnableHWIntrinsic", ["AVX-512 VBMI2", "AVX2", "Vector128"]),
    ];

    public static TheoryData<string> Names => [.. Switches.Select(row => row.Switch)];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task F44_Decoder_and_checksum_work_with_CPU_features_disabled(string name)
    {
        var without = Switches.Single(row => row.Switch == name).Without;
        var left = YencKernel.Supported.Select(kernel => kernel.Name).Where(kernel => !without.Contains(kernel));
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, OperatingSystem.IsWindows() ? "Sluice.Usenet.Tests.exe" : "Sluice.Usenet.Tests"))
        {
            RedirectStandardOutput = true,
        };
        foreach (var argument in (string[])["-noLogo", "-noColor", "-explicit", "on", "-class", typeof(Inside).FullName!, "-class", typeof(WholeArticleTests).FullName!, "-class", typeof(Crc32KernelTests).FullName!])
            start.ArgumentList.Add(argument);
        start.Environment[name] = "0";
        start.Environment[Expected] = string.Join(',', left);
        using var child = Process.Start(start) ?? throw new InvalidOperationException("No process.");
        var output = await child.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await child.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(child.ExitCode == 0, output);
        Assert.Contains("Failed: 0", output, StringComparison.Ordinal);
    }

    /// <summary>What only makes sense in such a process.</summary>
    public sealed class Inside
    {
        [Fact(Explicit = true)]
        public void Supported_kernels_match_the_enabled_CPU_features() =>
            Assert.Equal(Environment.GetEnvironmentVariable(Expected), string.Join(',', YencKernel.Supported.Select(kernel => kernel.Name)));
    }
}
