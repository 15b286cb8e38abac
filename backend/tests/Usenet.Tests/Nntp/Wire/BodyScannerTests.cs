using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Nntp.Wire;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

public sealed class BodyScannerTests
{
    [Theory]
    [InlineData(".\r\n")]
    [InlineData("a\r\n.\r\n")]
    [InlineData("..\r\n.\r\n")]
    [InlineData("a\r\n..\r\n\r\n.\r\n")]
    [InlineData("\r\r\n.\r\r\n.\n\r\n.\r\n")]
    [InlineData("a.\r\nb\n.\r\n\r.\r\n\r\n.\r\n")]
    public void The_end_is_found_at_every_split(string body)
    {
        foreach (var pieces in Splits.EveryPosition(Encoding.ASCII.GetBytes(body + "222 next")))
            Assert.Equal(body.Length, EndOf(pieces, skipEvery: 0));
    }

    [Fact]
    public void Random_bodies_end_at_the_same_offset_as_a_plain_search()
    {
        var random = new Random(4);
        for (var round = 0; round < 20_000; round++)
        {
            var bytes = new byte[random.Next(1, 40)];
            foreach (ref var value in bytes.AsSpan())
                value = "\r\n.a"u8[random.Next(4)];
            var text = "\r\n" + Encoding.ASCII.GetString(bytes);
            var end = text.IndexOf("\r\n.\r\n", StringComparison.Ordinal);
            var expected = end < 0 ? -1 : end + 3;
            var pieces = Splits.AtRandom(bytes, random, 7);
            Assert.Equal(expected, EndOf(pieces, skipEvery: 0));

            // Pieces that were already searched are only noted; none of them may contain the end.
            if (expected > 0 && pieces.Count > 1 && expected > pieces[0].Length)
                Assert.Equal(expected, EndOf(pieces, skipEvery: 1));
        }
    }

    private static int EndOf(IReadOnlyList<ReadOnlyMemory<byte>> pieces, int skipEvery)
    {
        var scanner = BodyScanner.AtStart;
        var before = 0;
        for (var i = 0; i < pieces.Count; i++)
        {
            if (i < skipEvery)
            {
                scanner.Skip(pieces[i].Span);
                before += pieces[i].Length;
                continue;
            }

            if (scanner.Scan(pieces[i].Span, out var consumed))
                return before + consumed;
            Assert.Equal(pieces[i].Length, consumed);
            before += consumed;
        }

        return -1;
    }
}
