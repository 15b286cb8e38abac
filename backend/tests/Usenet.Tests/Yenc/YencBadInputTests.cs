using System.Text;
using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;
using static Sluice.Usenet.Tests.Yenc.BadArticle;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Bad input from real posters, servers and attackers.</summary>
public sealed class YencBadInputTests
{
    [Fact]
    public void Article_without_trailer_is_delivered_and_flagged()
    {
        var run = Run(Begin + PartLine + Lines);

        Assert.Equal(Data, run.Output);
        Assert.Equal(ArticleDefects.Truncated, run.Defects);
        Assert.Null(run.Result.Trailer);
        Assert.Null(run.Result.ExpectedCrc);
        Assert.Equal(Crc, run.Result.ComputedCrc);
    }

    [Fact]
    public void Truncation_at_any_byte_is_flagged()
    {
        var wire = TestArticle.OnWire(Begin + PartLine + Lines + End);
        for (var length = 0; length < wire.Length; length++)
        {
            var run = DecoderRun.Of([wire.AsMemory(0, length)]);
            Assert.False(run.Ended);
            Assert.True(run.Defects.HasFlag(ArticleDefects.Truncated));
            Assert.True(Data.AsSpan().StartsWith(run.Output));
        }
    }

    [Theory]
    [InlineData(199, 200)]
    [InlineData(200, 199)]
    [InlineData(201, 201)]
    public void Length_mismatch_with_range_or_trailer_is_flagged(int decoded, int stated)
    {
        var data = TestArticle.Noise(decoded, seed: 7);
        var run = Run(Begin + PartLine + TestArticle.Encode(data) + $"=yend size={stated} part=2 pcrc32={YencReference.Crc(data):x8}\r\n");

        Assert.Equal(ArticleDefects.SizeMismatch, run.Defects);
        Assert.Equal((200L, 400L), (run.Result.Header.Begin, run.Result.Header.End));
        Assert.Equal(decoded, run.Result.DecodedLength);
    }

    [Fact]
    public void Flipped_byte_is_a_checksum_mismatch()
    {
        var wire = TestArticle.OnWire(Begin + PartLine + Lines + End);
        wire[150] ^= 1;
        Assert.Equal(ArticleDefects.CrcMismatch, DecoderRun.Of([wire]).Defects);
    }

    [Theory]
    [InlineData("ffffffff9ABCDEF0", 0x9ABCDEF0u)]
    [InlineData("9abcdef0", 0x9ABCDEF0u)]
    [InlineData("1f", 0x1Fu)]
    [InlineData("0", 0u)]
    [InlineData("0x12", null)]
    [InlineData("", null)]
    [InlineData("12g4", null)]
    [InlineData("-1", null)]
    public void Checksum_digits_are_parsed_or_flagged_unreadable(string digits, uint? expected)
    {
        var run = Run($"{Begin}{PartLine}{Lines}=yend size=200 part=2 pcrc32={digits}\r\n");

        Assert.Equal(expected, run.Result.Trailer!.Value.PartCrc);
        Assert.Equal(expected, run.Result.ExpectedCrc);
        Assert.Equal(expected is null ? ArticleDefects.UnreadableCrc : ArticleDefects.CrcMismatch, run.Defects);
    }

    [Fact]
    public void Zero_checksum_can_match()
    {
        // Four bytes after 0xFFFFFFFF with checksum zero; no other four bytes give it.
        byte[] data = [0x9D, 0x0A, 0xD9, 0x6D];
        Assert.Equal(0u, YencReference.Crc(data));

        var run = Run("=ybegin line=128 size=4 name=x\r\n" + TestArticle.Encode(data) + "=yend size=4 crc32=00000000\r\n");

        Assert.Equal((0u, ArticleDefects.None), (run.Result.ExpectedCrc, run.Defects));
    }

    [Theory]
    [InlineData("part=2 total=3", "begin=201 end=400", 600, false)]
    [InlineData("part=1 total=3", "begin=1 end=200", 600, false)]
    [InlineData("part=1 total=3", "begin=1 end=200", 200, true)]
    [InlineData("part=1 total=1", "begin=1 end=200", 200, true)]
    [InlineData("part=1 total=1", "begin=1 end=200", 600, false)]
    [InlineData("part=1 total=1", "begin=0 end=200", 200, true)]
    [InlineData("part=3 total=1", "begin=0 end=200", 200, false)]
    [InlineData("part=1 total=1", null, 200, false)]
    [InlineData("", null, 200, true)]
    [InlineData("", "begin=1 end=200", 200, true)]
    [InlineData("", "begin=201 end=400", 600, false)]
    public void File_checksum_applies_only_if_the_part_is_the_file(string part, string? range, int size, bool counts)
    {
        var body = $"=ybegin {part} line=128 size={size} name=x\r\n" + (range is null ? "" : $"=ypart {range}\r\n") + Lines;

        var run = Run($"{body}=yend crc32=deadbeef size=200\r\n");

        Assert.Equal(0xDEADBEEF, run.Result.Trailer!.Value.FileCrc);
        Assert.Equal(counts ? 0xDEADBEEF : null, run.Result.ExpectedCrc);
        Assert.Equal(counts, run.Defects.HasFlag(ArticleDefects.CrcMismatch));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(128)]
    [InlineData(1000)]
    public void Data_lines_have_no_length_limit(int line)
    {
        var data = TestArticle.Noise(30_000);
        var body = $"=ybegin line=128 size=30000 name=x\r\n{TestArticle.Encode(data, line == 1000 ? int.MaxValue : line)}\r\n=yend size=30000 crc32={YencReference.Crc(data):x8}\r\n";
        var run = DecoderRun.Of([TestArticle.OnWire(body)]);

        Assert.Equal((ArticleDefects.None, data.Length), (run.Defects, run.Output.Length));
        Assert.Equal(data, run.Output);
    }

    [Fact]
    public void Bare_CR_or_LF_in_data_is_dropped_and_starts_no_line()
    {
        var run = Run(Begin + PartLine + Lines.Replace("\r\n", "\n", StringComparison.Ordinal) + "\r" + "\r\n" + End);

        Assert.Equal((ArticleDefects.None, Crc), (run.Defects, run.Result.ComputedCrc));
        Assert.Equal("a\n.b\n"u8.ToArray(), DecodeRaw("=ybegin line=128 size=5 name=x\r\n" + TestArticle.Encode("a\n"u8).TrimEnd() + "\n" + TestArticle.Encode(".b\n"u8) + "\r\n=yend size=5\r\n.\r\n"));
    }

    [Fact]
    public void Article_of_bare_line_feeds_decodes_and_is_flagged()
    {
        var body = (Begin + PartLine + Lines + End).Replace("\r\n", "\n", StringComparison.Ordinal);
        var run = Run(body + "\r\n");

        Assert.Equal(ArticleDefects.BareLineFeeds, run.Defects);
        Assert.Equal(Data, run.Output);
        Assert.Equal(Crc, run.Result.ExpectedCrc);
    }

    [Fact]
    public void Second_block_is_never_appended()
    {
        var block = Begin + PartLine + Lines + End;

        var behind = Run(block + block);
        Assert.Equal((ArticleDefects.SecondHeader, Data.Length), (behind.Defects, behind.Output.Length));

        var inside = Run(Begin + PartLine + Lines + block);
        Assert.Equal((ArticleDefects.SecondHeader | ArticleDefects.Truncated, Data.Length), (inside.Defects, inside.Output.Length));
    }

    [Fact]
    public void Text_and_headers_around_the_block_are_skipped()
    {
        var run = Run(
            "From: a@b\r\nSubject: =ybegin of things\r\n folded\r\nX: y\r\n=ybegin is a marker\r\n=ybegin line=128 size=600\r\n\r\n.hello\r\n"
            + Begin + PartLine + Lines + End + "\r\n-- \r\nsignature\r\n=yend size=1\r\n");

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(Data, run.Output);
    }

    [Fact]
    public void Too_much_text_before_a_block_is_not_binary()
    {
        var text = string.Concat(Enumerable.Repeat("seventy bytes of prose that no poster has ever written into one yEnc p\r\n", 1000));
        var run = Run(text + Begin + PartLine + Lines + End, byteByByte: false);

        Assert.True(run.Ended);
        Assert.Empty(run.Output);
        Assert.Equal(ArticleDefects.NoHeader | ArticleDefects.NotBinary, run.Defects);

        Assert.Equal(ArticleDefects.None, Run(text[..60_000] + "\r\n" + Begin + PartLine + Lines + End, byteByByte: false).Defects);
    }

    [Theory]
    [InlineData("222 0 <another@t>", false)]
    [InlineData("220 1 <another@t> article", false)]
    [InlineData("222 lines of text", true)]
    [InlineData("222 < 3", true)]
    [InlineData("223 0 <another@t>", true)]
    [InlineData("222", true)]
    public void Block_after_the_reply_to_another_command_is_ignored(string line, bool isRead)
    {
        var run = Run($"{line}\r\n{Begin}{PartLine}{Lines}{End}");

        Assert.Equal(isRead ? Data : [], run.Output);
        Assert.Equal(isRead ? ArticleDefects.None : ArticleDefects.NoHeader, run.Defects);
    }

    [Fact]
    public void Leading_headers_have_their_own_limit()
    {
        var headers = string.Concat(Enumerable.Repeat("X-Header: value of seventy bytes, as servers and posters like to write them\r\n", 2500));

        Assert.Equal(ArticleDefects.None, Run(headers + "\r\n" + Begin + PartLine + Lines + End, byteByByte: false).Defects);
        Assert.True(Run(headers + headers + "\r\n" + Begin + PartLine + Lines + End, byteByByte: false).Defects.HasFlag(ArticleDefects.NoHeader));
        Assert.True(Run(new string('x', 300_000) + "\r\n" + Begin + PartLine + Lines + End, byteByByte: false).Defects.HasFlag(ArticleDefects.NoHeader));
    }

    [Fact]
    public void Unknown_keyword_in_data_is_skipped()
    {
        var half = Lines.IndexOf("\r\n", StringComparison.Ordinal) + 2;
        var run = Run(Begin + PartLine + Lines[..half] + "=yendless\r\n=y\r\n=ypart begin=1 end=5\r\n" + Lines[half..] + End);

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(Data, run.Output);
        Assert.Equal(200, run.Result.Header.Begin);
    }

    [Fact]
    public void Leading_dot_is_removed_from_every_line()
    {
        // A lone ".x" and a keyword after a stuffed dot, which no correct poster sends.
        var run = DecoderRun.Of("=ybegin line=128 size=6 name=x\r\n..k\r\n.k\r\nkk\r\n.=yend size=5\r\n.\r\n");

        Assert.Equal("\u0004AAAA".Select(c => (byte)c), run.Output);
        Assert.Equal(5, run.Result.TrailerSize);
        Assert.Equal(ArticleDefects.SizeMismatch, run.Defects);
    }

    [Theory]
    [InlineData("--b\r\nContent-Type: video/x\r\nContent-Transfer-Encoding: Base64\r\n\r\nAAAA\r\n", ArticleEncoding.Base64, ArticleDefects.NoHeader)]
    [InlineData("This article was removed after a notice.\r\n", ArticleEncoding.Text, ArticleDefects.NoHeader | ArticleDefects.NotBinary)]
    [InlineData("=ybegin line=128 size=3\r\nabc\r\n=yend size=3\r\n", ArticleEncoding.Text, ArticleDefects.NoHeader | ArticleDefects.NotBinary)]
    [InlineData("=ybeginline=128 size=3 name=x\r\nabc\r\n", ArticleEncoding.Text, ArticleDefects.NoHeader | ArticleDefects.NotBinary)]
    [InlineData("", ArticleEncoding.Unknown, ArticleDefects.NoHeader)]
    public void Non_yenc_bodies_are_classified(string body, ArticleEncoding encoding, ArticleDefects defects)
    {
        var run = Run(body);

        Assert.True(run.Ended);
        Assert.Empty(run.Output);
        Assert.Equal((encoding, defects), (run.Result.Encoding, run.Defects));
    }

    [Fact]
    public void Output_stops_at_the_ceiling_and_the_article_is_drained()
    {
        var line = new string('*', 4096) + "\r\n";
        var piece = Encoding.Latin1.GetBytes(string.Concat(Enumerable.Repeat(line, 63)));
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(ArticleDecoder.MaxDecodedLength + 100_000, blockSize: 60_000);
        Assert.False(decoder.Decode(TestArticle.Bytes("=ybegin line=4096 size=99999999 name=x\r\n"), output, out _));
        for (var i = 0; i < 66; i++)
        {
            Assert.False(decoder.Decode(piece, output, out var used));
            Assert.Equal(piece.Length, used);
        }

        Assert.True(decoder.Decode(TestArticle.Bytes("=yend size=99999999\r\n.\r\n222"), output, out var last));
        Assert.Equal(24, last);
        Assert.Equal(ArticleDecoder.MaxDecodedLength, decoder.Decoded);
        Assert.Equal(ArticleDefects.TooLong | ArticleDefects.SizeMismatch, decoder.GetResult().Defects);
        Assert.Equal(99_999_999, decoder.GetResult().TrailerSize);
    }

    private static byte[] DecodeRaw(string wire) => DecoderRun.Of(wire).Output;
}
