using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Articles of real size through each kernel, which reach loop rounds that short cases do not.</summary>
public sealed class WholeArticleTests
{
    private const int PartLength = 716_800;

    public static TheoryData<string> Kernels => [.. YencKernel.Supported.Select(kernel => kernel.Name)];

    [Theory]
    [MemberData(nameof(Kernels))]
    public void Kernel_decodes_full_articles_in_any_read_and_block_size(string name)
    {
        var random = new Random(5);
        foreach (var escaped in new[] { false, false, true })
        {
            var data = TestArticle.Noise(PartLength, random.Next());
            var raw = TestArticle.OnWire(WithoutKeywords(TestArticle.Encode(data, random.Next(60, 256), escaped)));
            foreach (var most in new[] { raw.Length, 65_536, 1_440 })
                Assert.True(data.AsSpan().SequenceEqual(Decode(name, raw, most, random)), $"{name}, reads of up to {most}");
        }
    }

    /// <summary>Replaces an escaped '9' at the start of a line by a plain one, because it would be a keyword line.</summary>
    private static string WithoutKeywords(string body) => body.Replace("\r\n=y", "\r\n9", StringComparison.Ordinal);

    private static byte[] Decode(string name, byte[] raw, int most, Random random)
    {
        var kernel = YencKernel.Supported.Single(candidate => candidate.Name == name);
        var output = new byte[PartLength];
        YencState state = default;
        var (at, written) = (0, 0);
        while (true)
        {
            var source = raw.AsSpan(at, Math.Min(raw.Length - at, most == raw.Length ? most : 1 + random.Next(most)));
            var room = output.AsSpan(written, Math.Min(output.Length - written, most == raw.Length ? PartLength : random.Next(most)));
            var stop = kernel.Decode(source, room, ref state, out var consumed, out var more);
            at += consumed;
            written += more;
            if (stop == YencStop.ArticleEnd)
            {
                Assert.Equal((raw.Length, PartLength), (at, written));
                return output;
            }

            Assert.NotEqual(YencStop.Keyword, stop);
            Assert.True(at < raw.Length, "an article ends before its last byte is taken");
        }
    }
}
