using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Each kernel of this CPU, selected explicitly, against the rules of <see cref="YencReference"/>.</summary>
public sealed class YencKernelTests
{
    private const int FuzzCases = 500_000;
    private const int ReleaseFuzzCases = 20_000_000;
    private const int LongFuzzCases = 10_000;

    private static readonly string[] Planted = ["\r\n.\r\n", "\r\n=y", "\r\n.=y", "=\r\n.", "==", "\r\n..", "\r\n.", "\r\n.\r", "=\r\n.\r\n", "\n.\r\n", "\r\r\n=y", "==\r\n=y", "=\n=y", ".=y"];

    public static TheoryData<string> Kernels => [.. YencKernel.Supported.Select(kernel => kernel.Name)];

    /// <summary>Returns inputs of up to 200 bytes, in which every rule meets every other.</summary>
    private static IEnumerable<string> Cases()
    {
        yield return "";
        yield return ".\r\n";
        yield return "..\r\n.\r\n";
        yield return "=ybegin\r\n.\r\n";
        yield return ".=ypart\r\n.\r\n";
        yield return "ab\r\n..cd\r\n.ef\r\n.=}\r\n...\r\n.\r\n";
        yield return "a=\r\n.b\r\nc=\r\n.\r\nrest";
        yield return "a==b===c====d\r\n=\r\n=\n=.\r\n=yend";
        yield return "a\n.b\r.c\r\r\n.d\n\r\n.\re\r\n.\r\r\n.\n\r\n\r\n.\r\n";
        yield return "=y\r\n=y\r\n.=y\r\n=z\r\n.=z\r\n==y\r\n.\r\n222 next";
        yield return TestArticle.Encode(TestArticle.Noise(90)) + "..\r\n=yend size=1\r\n.\r\n";
        yield return new string('=', 199);
        yield return string.Concat(Enumerable.Repeat("\r\n..", 50));
        yield return string.Concat(Enumerable.Repeat("=\r", 100));
        yield return string.Concat(Enumerable.Repeat("\r\n", 100));
        yield return string.Concat(Enumerable.Repeat("\r\n=x", 50));
        foreach (var planted in Planted)
            yield return new string('a', 70) + planted + planted + new string('b', 70);
    }

    [Fact]
    public void State_is_eight_bytes() => Assert.Equal(8, System.Runtime.CompilerServices.Unsafe.SizeOf<YencState>());

    [Fact]
    public void Scalar_kernel_is_always_the_last_fallback() => Assert.Equal("bytes", YencKernel.Supported[^1].Name);

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Kernel_decodes_every_case_at_every_split_point(string name)
    {
        var driver = new KernelDriver(Kernel(name));
        foreach (var text in Cases())
        {
            var input = TestArticle.Bytes(text);
            var expected = YencReference.Decode(input);
            foreach (var pieces in Splits.EveryPosition(input))
            {
                driver.AssertSame(input, expected, pieces, () => 4096);
                driver.AssertSame(input, expected, pieces, () => 1);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Kernel_decodes_into_any_destination_size(string name)
    {
        var driver = new KernelDriver(Kernel(name));
        var input = TestArticle.Bytes(TestArticle.Encode(TestArticle.Noise(600)) + ".\r\n");
        var expected = YencReference.Decode(input);
        for (var room = 1; room <= 620; room++)
            driver.AssertSame(input, expected, [input], () => room);
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Kernel_decodes_specials_planted_at_every_offset(string name)
    {
        var driver = new KernelDriver(Kernel(name));
        foreach (var planted in Planted)
        {
            for (var offset = 0; offset < 256 + 8; offset++)
            {
                var input = TestArticle.Bytes(new string('*', offset) + planted + new string('+', 400 - offset));
                var expected = YencReference.Decode(input);
                driver.AssertSame(input, expected, [input], () => 4096);

                var wide = TestArticle.Bytes(new string('*', 128 + offset) + planted + planted + new string('=', offset % 5) + new string('+', 400));
                driver.AssertSame(wide, YencReference.Decode(wide), [wide.AsMemory(0, 64 + offset), wide.AsMemory(64 + offset)], () => 4096);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Kernels))]
    public void G5_Kernel_equals_the_reference_on_random_input(string name) => Fuzz(name, FuzzCases, seed: 20_040_613);

    [Theory]
    [Trait("Category", "Long")]
    [MemberData(nameof(Kernels))]
    public void G5_Kernel_equals_the_reference_on_20_million_random_cases(string name) => Fuzz(name, ReleaseFuzzCases, seed: 20_260_103);

    /// <summary>Long runs without special bytes, then many at once: tests the state between rounds of a fast loop and at its exit.</summary>
    [Theory]
    [MemberData(nameof(Kernels))]
    public void G5_Kernel_equals_the_reference_on_long_random_input(string name)
    {
        var driver = new KernelDriver(Kernel(name));
        var random = new Random(20_260_104);
        var buffer = new byte[6000];
        for (var i = 0; i < LongFuzzCases / YencKernel.Supported.Count; i++)
        {
            var input = buffer.AsMemory(0, random.Next(1000, buffer.Length));
            FillWithSpecials(input.Span, random, percent: 0);
            for (var at = random.Next(300); at < input.Length - 64; at += random.Next(4) == 0 ? random.Next(8) : random.Next(1200))
            {
                if (random.Next(3) == 0)
                    TestArticle.Bytes(Planted[random.Next(Planted.Length)]).CopyTo(input.Span[at..]);
                else
                    FillWithSpecials(input.Span.Slice(at, random.Next(40)), random, percent: random.Next(2, 101));
            }

            IEnumerable<ReadOnlyMemory<byte>> pieces = i % 2 == 0 ? [input] : Splits.AtRandom(input, random, 1 + random.Next(input.Length));
            var room = i % 3 == 0 ? 1 + random.Next(3000) : 8000;
            driver.AssertSame(input, YencReference.Decode(input.Span), pieces, () => room);
        }
    }

    /// <summary>Plants the same strings far inside the input, after many rounds of the fast loop.</summary>
    [Theory]
    [MemberData(nameof(Kernels))]
    public void G5_Kernel_decodes_specials_planted_behind_a_long_run(string name)
    {
        var driver = new KernelDriver(Kernel(name));
        foreach (var planted in Planted)
        {
            for (var offset = 0; offset < 128; offset++)
            {
                var input = TestArticle.Bytes(new string('*', 1024 + offset) + planted + new string('+', 1200 - offset) + planted + new string('*', 300));
                driver.AssertSame(input, YencReference.Decode(input), [input], () => 8000);
            }
        }
    }

    private static void Fuzz(string name, int all, int seed)
    {
        var cases = all / YencKernel.Supported.Count;
        var driver = new KernelDriver(Kernel(name));
        var random = new Random(seed);
        var buffer = new byte[640];
        for (var i = 0; i < cases; i++)
        {
            var length = i % 8 == 0 ? random.Next(buffer.Length) : random.Next(200);
            FillWithSpecials(buffer.AsSpan(0, length), random, percent: random.Next(2, 101));
            var input = buffer.AsMemory(0, length);
            var expected = YencReference.Decode(input.Span);
            IEnumerable<ReadOnlyMemory<byte>> pieces = i % 2 == 0 ? [input] : Splits.AtRandom(input, random, 1 + random.Next(Math.Max(1, length)));
            var room = i % 3 == 0 ? 1 + random.Next(300) : 4096;
            driver.AssertSame(input, expected, pieces, () => room);
        }
    }

    /// <summary>Fills a buffer with yEnc's special bytes at a density, and noise between them.</summary>
    private static void FillWithSpecials(Span<byte> bytes, Random random, int percent)
    {
        random.NextBytes(bytes);
        for (var i = 0; i < bytes.Length; i++)
        {
            if (random.Next(100) < percent)
                bytes[i] = "==\r\n\r\n..y"u8[random.Next(9)];
            else if (bytes[i] < 20)
                bytes[i] = (byte)'a';

            // Single random bytes rarely form whole line ends, on which the layers depend.
            if (i > 0 && random.Next(200) < percent && random.Next(4) == 0)
                "\r\n"u8.CopyTo(bytes[(i - 1)..]);
        }
    }

    private static YencKernel Kernel(string name) => YencKernel.Supported.Single(kernel => kernel.Name == name);
}
