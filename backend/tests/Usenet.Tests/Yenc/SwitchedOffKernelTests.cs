using System.Diagnostics;
using System.Runtime.Intrinsics.Arm;
using Sluice.Usenet.Yenc;
using Xunit;
using Pclmulqdq = System.Runtime.Intrinsics.X86.Pclmulqdq;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>CPUs with fewer instructions than this one, each simulated by a process whose runtime has them switched off.</summary>
public sealed class SwitchedOffKernelTests
{
    private const string Expected = "SLUICE_TEST_EXPECTED_KERNELS";

    /// <summary>Variable with the emulator of this process, if any, which must also run the child process.</summary>
    private const string Emulator = "SLUICE_TEST_EMULATOR";

    // On x86 from the widest level to none; a switch disables its level and all above it. On Arm single instructions, then all of them.
    private static readonly (string Switch, string[] Without, string Checksum)[] Switches = ArmBase.Arm64.IsSupported
        ?
        [
            ("DOTNET_EnableArm64Aes", [], Crc32.Arm64.IsSupported ? "CRC32 instructions" : "tables"),
            ("DOTNET_EnableArm64Crc32", [], Aes.IsSupported ? "PMULL" : "tables"),
            ("DOTNET_EnableHWIntrinsic", ["Vector128"], "tables"),
        ]
        :
        [
            ("DOTNET_EnableAVX512v3", ["AVX-512 VBMI2"], Crc32Kernel.Name),
            ("DOTNET_EnableAVX2", ["AVX-512 VBMI2", "AVX2"], Pclmulqdq.V256.IsSupported ? "PCLMULQDQ in 256 bits" : Crc32Kernel.Name),
            ("DOTNET_EnableHWIntrinsic", ["AVX-512 VBMI2", "AVX2", "Vector128"], "tables"),
        ];

    public static TheoryData<string> Names => [.. Switches.Select(row => row.Switch)];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task F44_Decoder_and_checksum_work_with_CPU_features_disabled(string name)
    {
        var (_, without, checksum) = Switches.Single(row => row.Switch == name);
        var left = YencKernel.Supported.Select(kernel => kernel.Name).Where(kernel => !without.Contains(kernel));
        var program = Path.Combine(AppContext.BaseDirectory, OperatingSystem.IsWindows() ? "Sluice.Usenet.Tests.exe" : "Sluice.Usenet.Tests");
        var emulator = Environment.GetEnvironmentVariable(Emulator);
        var start = new ProcessStartInfo(emulator ?? program, emulator is null ? [] : [program]) { RedirectStandardOutput = true };
        foreach (var argument in (string[])["-noLogo", "-noColor", "-explicit", "on", "-class", typeof(Inside).FullName!, "-class", typeof(WholeArticleTests).FullName!, "-class", typeof(Crc32KernelTests).FullName!])
            start.ArgumentList.Add(argument);
        start.Environment[name] = "0";
        start.Environment[Expected] = string.Join(',', left.Append(checksum));
        using var child = Process.Start(start) ?? throw new InvalidOperationException("No process.");
        var output = await child.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await child.WaitForExitAsync(TestContext.Current.CancellationToken);
        Assert.True(child.ExitCode == 0, output);
        Assert.Contains("Failed: 0", output, StringComparison.Ordinal);
    }

    /// <summary>Tests that only make sense in such a process.</summary>
    public sealed class Inside
    {
        [Fact(Explicit = true)]
        public void Supported_kernels_match_the_enabled_CPU_features() =>
            Assert.Equal(Environment.GetEnvironmentVariable(Expected), string.Join(',', YencKernel.Supported.Select(kernel => kernel.Name).Append(Crc32Kernel.Name)));
    }
}
