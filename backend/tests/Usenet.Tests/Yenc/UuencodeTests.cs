using System.Globalization;
using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;
using static Sluice.Usenet.Tests.Yenc.BadArticle;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>Articles of uuencode: whole files, first, middle and last parts, split anywhere, and the defects of bad ones.</summary>
public sealed class UuencodeTests
{
    private const string First = "begin 644 film.mkv\r\n";
    private const string Last = "`\r\nend\r\n";
    private const string Groups = "9F]O9F]O9F]O9F]O";

    private static readonly byte[] Whole = TestArticle.Noise(450, seed: 3);
    private static readonly byte[] Rest = TestArticle.Noise(452, seed: 4);

    [Fact]
    public void Whole_file_decodes_with_only_a_name_in_its_header()
    {
        var run = Run(First + TestArticle.UuLines(Rest) + Last);

        Assert.Equal(Rest, run.Output);
        Assert.Equal((ArticleEncoding.Uuencode, ArticleDefects.None, "film.mkv"), (run.Result.Encoding, run.Defects, run.Name));
        Assert.Equal(new ArticleHeader { NameBytes = run.Result.Header.NameBytes }, run.Result.Header);
        Assert.Equal(new ArticleTrailer(), run.Result.Trailer);
        Assert.Equal((452, YencReference.Crc(Rest), null), (run.Result.DecodedLength, run.Result.ComputedCrc, run.Result.ExpectedCrc));
    }

    [Theory]
    [InlineData(true, false, 450)]
    [InlineData(false, false, 450)]
    [InlineData(false, true, 450)]
    [InlineData(false, true, 452)]
    [InlineData(false, true, 46)]
    [InlineData(false, true, 44)]
    [InlineData(false, true, 14)]
    [InlineData(false, true, 1)]
    [InlineData(false, true, 0)]
    [InlineData(true, true, 0)]
    [InlineData(true, true, 1)]
    public void Part_has_only_the_begin_or_end_line_it_contains(bool isFirst, bool isLast, int length)
    {
        var data = TestArticle.Noise(length, seed: length);

        var run = Run(TestArticle.UuPart(data, isFirst, isLast));

        Assert.Equal(data, run.Output);
        Assert.Equal((ArticleEncoding.Uuencode, ArticleDefects.None), (run.Result.Encoding, run.Defects));
        Assert.Equal((isFirst ? "film.mkv" : "", isLast), (run.Name, run.Result.Trailer is not null));
    }

    [Fact]
    public void Lone_end_line_is_an_empty_part()
    {
        Assert.Equal((ArticleEncoding.Uuencode, ArticleDefects.None, 0L), Facts(Run("end\r\n")));
        Assert.Equal((ArticleEncoding.Uuencode, ArticleDefects.None, 0L), Facts(Run("\r\nend\r\n")));
        Assert.Equal((ArticleEncoding.Uuencode, ArticleDefects.None, 0L), Facts(Run("part 9 of 9\r\n\r\n`\r\nend\r\n")));
        Assert.Equal((ArticleEncoding.Text, ArticleDefects.NoHeader | ArticleDefects.NotBinary, 0L), Facts(Run("This is the\r\nend\r\n")));
    }

    [Theory]
    [InlineData("", Last)]
    [InlineData("[part 2 of 9] film.mkv\r\n\r\nBEGIN--cut here--cut here\r\n", "END--cut here--cut here\r\n\r\n-- \r\nsignature\r\n")]
    [InlineData("From: a@b\r\nSubject: film.mkv (2/9)\r\n\r\n.hello\r\n" + First, " \r\nend\r\n.bye\r\nend\r\n")]
    [InlineData("#AB\r\n#ABCD\r\ntext\r\nbegin 0644   film.mkv \r\n\r\n", "\r\nend \r\n")]
    public void Text_around_the_data_is_skipped(string before, string behind)
    {
        var run = Run(before + TestArticle.UuLines(Whole) + behind);

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(Whole, run.Output);
    }

    [Fact]
    public void Line_variants_of_different_encoders_decode()
    {
        byte[] data = [.. new byte[40], .. Rest];
        var lines = TestArticle.UuLines(data).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        var unpadded = TestArticle.UuLines(data.AsSpan(0, data.Length - 2)).TrimEnd()[..^2];

        Assert.Equal(data, Decoded(First + TestArticle.UuLines(data, zero: ' ') + " \r\nend\r\n"));
        Assert.Equal(data, Decoded(First + string.Concat(lines.Select(line => line + "!\r\n")) + Last));
        Assert.Equal(data[..^2], Decoded(First + unpadded + "\r\n" + Last));
        Assert.Equal(data, Decoded(First + string.Join("\r\n\r\n", lines) + "\r\n" + Last));

        var bare = Run((First + TestArticle.UuLines(data) + Last).Replace("\r\n", "\n", StringComparison.Ordinal) + "\r\n");
        Assert.Equal(data, bare.Output);
        Assert.Equal(ArticleDefects.BareLineFeeds, bare.Defects);
    }

    [Theory]
    [InlineData("begin 644 a b\"=c.bin ", "a b\"=c.bin")]
    [InlineData("begin 0755 x", "x")]
    [InlineData("begin 644", null)]
    [InlineData("begin 644 ", null)]
    [InlineData("begin 64 x", null)]
    [InlineData("begin 648 x", null)]
    [InlineData("begin 00644 x", null)]
    [InlineData("begin644 x", null)]
    [InlineData("Begin 644 x", null)]
    [InlineData("begin-base64 644 x", null)]
    public void Begin_line_needs_a_mode_and_a_name(string line, string? name)
    {
        var run = Run($"{line}\r\n#86)C\r\nend\r\n");

        // Without a begin line, three bytes before an end line are the last part of a file.
        Assert.Equal(name ?? "", run.Name);
        Assert.Equal("abc"u8.ToArray(), run.Output);
    }

    [Fact]
    public void Article_decodes_the_same_at_every_split()
    {
        // A line that begins with a dot, text around the block, and the following answer to the next command.
        var data = TestArticle.Noise(45 + 14, seed: 8);
        foreach (var first in new[] { First, "" })
        {
            byte[] wire = [.. TestArticle.OnWire("text\r\n.sig\r\n" + first + TestArticle.UuLines(data) + Last + ".end\r\n"), .. "222 0 <next>\r\n"u8];
            var whole = DecoderRun.Of([wire]);
            var expected = whole.Describe();
            Assert.Equal(data, whole.Output);
            Assert.Equal((ArticleDefects.None, wire.Length - "222 0 <next>\r\n".Length), (whole.Defects, whole.Consumed));

            Assert.Equal(expected, DecoderRun.Of(Splits.ByteByByte(wire)).Describe());
            foreach (var pieces in Splits.EveryPosition(wire))
                Assert.Equal(expected, DecoderRun.Of(pieces).Describe());
        }
    }

    [Fact]
    public void Malformed_articles_decode_the_same_at_every_split()
    {
        var lines = TestArticle.UuLines(TestArticle.Noise(45 + 14, seed: 8));
        foreach (var body in new[]
        {
            First + lines + "not a line of data\r\n" + lines + Last,
            First + lines + "M" + Groups + "\r\n" + Last,
            First + lines + "`\r\n" + lines + Last,
            First + lines + First + lines + Last,
            First + lines + Last + First + lines + Last,
            First + lines,
            lines + "\r\n-- \r\n.sig\r\n",
            (First + lines + Last).Replace("\r\n", "\n", StringComparison.Ordinal) + "\r\n",
            "#86)C\r\n`\r\nend\r\n",
            "#86)C\r\n",
            "`\r\nend\r\n",
            "This is the\r\nend\r\n",
            "",
        })
        {
            var wire = TestArticle.OnWire(body);
            var expected = DecoderRun.Of([wire]).Describe();
            Assert.Equal(expected, DecoderRun.Of(Splits.ByteByByte(wire)).Describe());
            foreach (var pieces in Splits.EveryPosition(wire))
                Assert.Equal(expected, DecoderRun.Of(pieces).Describe());
        }
    }

    [Fact]
    public void Random_articles_decode_in_random_pieces_and_blocks()
    {
        var random = new Random(12);
        for (var i = 0; i < 300; i++)
        {
            var data = TestArticle.Noise(random.Next(1, 5000), seed: i);
            var pieces = Splits.AtRandom(TestArticle.OnWire(TestArticle.UuPart(data, isFirst: random.Next(2) == 0, isLast: true)), random, longest: random.Next(1, 2000));
            var run = DecoderRun.Of(pieces, blockSize: random.Next(1, 500));
            Assert.True(run.Ended, i.ToString(CultureInfo.InvariantCulture));
            Assert.Equal(ArticleDefects.None, run.Defects);
            Assert.Equal(data, run.Output);
        }
    }

    [Fact]
    public void Truncation_at_any_byte_is_flagged()
    {
        var wire = TestArticle.OnWire(First + TestArticle.UuLines(Rest) + Last);
        for (var length = 0; length < wire.Length; length++)
        {
            var run = DecoderRun.Of([wire.AsMemory(0, length)]);
            Assert.False(run.Ended);
            Assert.True(run.Defects.HasFlag(ArticleDefects.Truncated));
            Assert.True(Rest.AsSpan().StartsWith(run.Output));
        }
    }

    [Theory]
    [InlineData(1, "M")]
    [InlineData(1, "M" + Groups)]
    [InlineData(5, "M" + Groups)]
    [InlineData(9, "M" + Groups)]
    [InlineData(5, "M" + Groups + Groups + Groups + Groups)]
    [InlineData(5, "M" + Groups + Groups + Groups + "9F]O9F]O9F]o")]
    [InlineData(5, "not a line of data")]
    [InlineData(1, "not a line of data")]
    [InlineData(10, "not a line of data")]
    public void Invalid_line_within_the_data_is_damage(int at, string line)
    {
        var lines = TestArticle.UuLines(Whole).Split("\r\n").ToList();
        lines[at] = line;

        var run = Run(First + string.Join("\r\n", lines) + (at == 10 ? "\r\n" : "") + Last);

        Assert.Equal(ArticleDefects.DamagedLine, run.Defects);
        Assert.Equal(at == 10 ? 450 : 405, run.Result.DecodedLength);
    }

    [Fact]
    public void Data_after_the_zero_length_line_is_damage()
    {
        var lines = TestArticle.UuLines(Whole);

        Assert.Equal(ArticleDefects.DamagedLine, Run(First + lines + "`\r\n" + lines + Last).Defects);
        Assert.Equal(ArticleDefects.None, Run("`\r\n" + lines + Last).Defects);
        Assert.Equal(ArticleDefects.None, Run(First + lines + "`\r\n`\r\n\r\nend\r\n").Defects);
    }

    [Theory]
    [InlineData("begin 644 film.mkv\r\nM24U$\r\n", ArticleDefects.DamagedLine, 0)]
    [InlineData("begin 644 film.mkv\r\n", ArticleDefects.None, 0)]
    [InlineData("M" + Groups + Groups + Groups + "9F]O9F]O9F]O\r\n", ArticleDefects.None, 45)]
    [InlineData("M" + Groups + Groups + Groups + "9F]O9F]O9F]O!\r\n", ArticleDefects.None, 45)]
    [InlineData("M" + Groups + Groups + Groups + "9F]O9F]O9F]\r\n", ArticleDefects.NoHeader | ArticleDefects.NotBinary, 0)]
    [InlineData("M" + Groups + Groups + Groups + "9F]O9F]O9F]O9F\r\n", ArticleDefects.NoHeader | ArticleDefects.NotBinary, 0)]
    [InlineData("M" + Groups + Groups + Groups + "9F]O9F]O9F]o\r\n", ArticleDefects.NoHeader | ArticleDefects.NotBinary, 0)]
    public void Block_starts_at_a_begin_line_or_a_full_data_line(string body, ArticleDefects defects, int length)
    {
        var run = Run(body);

        Assert.Equal((defects, length), (run.Defects, run.Output.Length));
        Assert.Equal((defects & ArticleDefects.NoHeader) == 0 ? ArticleEncoding.Uuencode : ArticleEncoding.Text, run.Result.Encoding);
    }

    [Fact]
    public void Undetected_bit_flip_changes_at_most_one_line()
    {
        var good = TestArticle.OnWire(TestArticle.UuPart(Whole, isFirst: true, isLast: true));
        var from = good.AsSpan().IndexOf("\r\n"u8) + 2;
        for (var bit = 8 * from; bit < 8 * (good.Length - 5); bit++)
        {
            var wire = (byte[])good.Clone();
            wire[bit / 8] ^= (byte)(1 << (bit % 8));
            var run = DecoderRun.Of([wire]);

            Assert.InRange(run.Output.Length, 0, Whole.Length);
            if (run.Defects == ArticleDefects.None && run.Output.Length == Whole.Length)
                Assert.InRange(run.Output.Zip(Whole).Count(pair => pair.First != pair.Second), 0, 45);
        }
    }

    [Fact]
    public void Second_block_is_never_appended()
    {
        var block = First + TestArticle.UuLines(Whole) + Last;

        var behind = Run(block + block);
        Assert.Equal((ArticleDefects.SecondHeader, Whole.Length), (behind.Defects, behind.Output.Length));

        var inside = Run(First + TestArticle.UuLines(Whole) + block);
        Assert.Equal((ArticleDefects.SecondHeader, Whole.Length), (inside.Defects, inside.Output.Length));
        Assert.Null(inside.Result.Trailer);
    }

    [Theory]
    [InlineData("This article was removed after a notice.\r\nM9F]O9F]O\r\n")]
    [InlineData("#ABCD\r\n\r\n#ABCD\r\nREMOVED\r\n")]
    [InlineData("-- \r\nEND\r\n`\r\n")]
    public void Plain_text_is_not_uuencode(string body)
    {
        var run = Run(body);

        Assert.Empty(run.Output);
        Assert.Equal((ArticleEncoding.Text, ArticleDefects.NoHeader | ArticleDefects.NotBinary), (run.Result.Encoding, run.Defects));
    }

    [Fact]
    public void Yenc_block_after_a_short_line_of_capitals_is_yenc()
    {
        var run = Run("#ABCD\r\n" + Begin + PartLine + Lines + End);

        Assert.Equal((ArticleEncoding.Yenc, ArticleDefects.None), (run.Result.Encoding, run.Defects));
        Assert.Equal(Data, run.Output);
    }

    [Fact]
    public void Output_stops_at_the_ceiling_and_the_article_is_drained()
    {
        var piece = TestArticle.Bytes(string.Concat(Enumerable.Repeat(TestArticle.UuLines(new byte[45]), 10_000)));
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(ArticleDecoder.MaxDecodedLength + 100_000, blockSize: 60_000);
        for (var i = 0; i < 40; i++)
        {
            Assert.False(decoder.Decode(piece, output, out var used));
            Assert.Equal(piece.Length, used);
        }

        Assert.True(decoder.Decode("`\r\nend\r\n.\r\n222"u8, output, out var last));
        Assert.Equal(11, last);
        Assert.Equal(ArticleDecoder.MaxDecodedLength, decoder.Decoded);
        Assert.Equal(ArticleDefects.TooLong, decoder.GetResult().Defects);
    }

    [Fact]
    public void Decoder_allocates_nothing_per_article() =>
        Assert.Equal(0, DecoderRun.Allocated(new ArticleDecoder(), TestArticle.OnWire(TestArticle.UuPart(TestArticle.Noise(100_000), isFirst: true, isLast: true))));

    private static byte[] Decoded(string body)
    {
        var run = Run(body);
        Assert.Equal(ArticleDefects.None, run.Defects);
        return run.Output;
    }

    private static (ArticleEncoding, ArticleDefects, long) Facts(DecoderRun run) => (run.Result.Encoding, run.Defects, run.Result.DecodedLength);
}
