using System.Runtime.Intrinsics;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

public sealed class SqueezeTableTests
{
    [Fact]
    public void Squeeze_drops_marked_bytes_and_keeps_the_order()
    {
        Assert.SkipUnless(YencVector128.IsSupported, "the CPU shuffles bytes");
        var table = new SqueezeTable();
        var bytes = TestArticle.Noise(64);
        var squeezed = new byte[64];
        var expected = new byte[64];
        var random = new Random(3);
        for (var set = 0; set < 1 << 16; set++)
        {
            var drop = (ulong)random.NextInt64(long.MinValue, long.MaxValue);
            var quarter = 16 * (set & 3);
            drop = (drop & ~(0xFFFFul << quarter)) | ((ulong)set << quarter);

            var kept = SqueezeTable.Squeeze(
                ref table.First, ref squeezed[0], drop, Vector(bytes, 0), Vector(bytes, 16), Vector(bytes, 32), Vector(bytes, 48));

            var count = 0;
            for (var i = 0; i < bytes.Length; i++)
            {
                if ((drop >> i & 1) == 0)
                    expected[count++] = bytes[i];
            }

            Assert.Equal(count, kept);
            Assert.True(expected.AsSpan(0, count).SequenceEqual(squeezed.AsSpan(0, count)), $"{drop:x16}");
        }
    }

    private static Vector128<byte> Vector(byte[] bytes, int at) => Vector128.LoadUnsafe(ref bytes[at]);
}
