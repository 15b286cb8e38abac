using Sluice.Server.Diagnostics;
using Xunit;

namespace Sluice.Server.Tests.Diagnostics;

/// <summary>The builds that a start tries, by the CPU flags of the system.</summary>
public sealed class WiderBuildTests
{
    private const string Haswell = "fpu sse2 ssse3 sse4_1 sse4_2 movbe popcnt aes avx f16c rdrand abm bmi1 avx2 bmi2 fma";
    private const string Skylake = Haswell + " avx512f avx512dq avx512cd avx512bw avx512vl";
    private const string IceLake = Skylake + " avx512vbmi avx512_vbmi2 vpclmulqdq";

    [Theory]
    [InlineData("fpu sse2 ssse3 sse4_1 sse4_2 popcnt aes pclmulqdq", "")]
    [InlineData("fpu sse2 ssse3 sse4_1 sse4_2 popcnt avx", "")]
    [InlineData(Haswell, "v3")]
    [InlineData(Skylake, "v3")]
    [InlineData(IceLake, "v4 v3")]
    public void F44_Widest_build_supported_by_the_CPU_is_tried_first(string flags, string expected) =>
        Assert.Equal(expected, string.Join(' ', WiderBuild.Levels(Describe(flags), most: null)));

    [Theory]
    [InlineData("v4", "v4 v3")]
    [InlineData("v3", "v3")]
    [InlineData("v2", "")]
    public void F44_Instruction_level_can_be_limited(string most, string expected) =>
        Assert.Equal(expected, string.Join(' ', WiderBuild.Levels(Describe(IceLake), most)));

    [Fact]
    public void Truncated_CPU_flags_select_no_wider_build()
    {
        var whole = Describe(IceLake);
        for (var length = 0; length <= whole.IndexOf("avx512_vbmi2", StringComparison.Ordinal) + "avx512_vbmi2".Length; length++)
            Assert.Empty(WiderBuild.Levels(whole[..length], most: null));
    }

    [Fact]
    public void Build_without_AOT_is_named_this_CPU_while_running() => Assert.Equal("this CPU, while running", WiderBuild.Name);

    private static string Describe(string flags) =>
        $"processor\t: 0\nmodel name\t: Any CPU\nflags\t\t: {flags}\nbugs\t\t: avx2\n\nprocessor\t: 1\nflags\t\t: {flags}\n";
}
