using System.Globalization;
using Sluice.Testing;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

public sealed class ArticleDecoderTests
{
    private static readonly byte[] Data = TestArticle.Noise(300);

    [Fact]
    public void Part_decodes_with_its_header_trailer_and_CRC()
    {
        var run = DecoderRun.Of([TestArticle.OnWire(TestArticle.Part(Data, begin: 600, fileSize: 1000, part: 3, total: 4))]);

        Assert.True(run.Ended);
        Assert.Equal(Data, run.Output);
        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(ArticleEncoding.Yenc, run.Result.Encoding);
        Assert.Equal(
            new ArticleHeader
            {
                FileSize = 1000,
                Part = 3,
                Total = 4,
                Begin = 600,
                End = 900,
                LineLength = 128,
                HasPartLine = true,
                HasPartField = true,
                NameBytes = run.Result.Header.NameBytes,
            },
            run.Result.Header);
        Assert.Equal("film.mkv", run.Name);
        Assert.Equal(300, run.Result.Header.PartLength);
        Assert.Equal(new ArticleTrailer { Size = 300, Part = 3, PartCrc = YencReference.Crc(Data) }, run.Result.Trailer);
        Assert.Equal(300, run.Result.TrailerSize);
        Assert.Equal(300, run.Result.DecodedLength);
        Assert.Equal(YencReference.Crc(Data), run.Result.ComputedCrc);
        Assert.Equal(YencReference.Crc(Data), run.Result.ExpectedCrc);
    }

    [Fact]
    public void Single_part_article_covers_the_file_and_uses_its_CRC()
    {
        var run = DecoderRun.Of(
            $"=ybegin line=128 size=300 name=a b\"=c.bin \r\n{TestArticle.Encode(Data)}=yend size=300 crc32={YencReference.Crc(Data):X8}\r\n.\r\n");

        Assert.Equal(ArticleDefects.None, run.Defects);
        Assert.Equal(Data, run.Output);
        Assert.Equal("a b\"=c.bin", run.Name);
        Assert.Equal((0L, 300L), (run.Result.Header.Begin, run.Result.Header.End));
        Assert.Equal(YencReference.Crc(Data), run.Result.ExpectedCrc);
    }

    [Fact]
    public void Article_decodes_the_same_at_every_split()
    {
        // Stuffed dots, an unknown keyword, text around the block, and the following answer to the next command.
        var data = TestArticle.Noise(40);
        var body = "text\r\n.sig\r\n" + TestArticle.Part(data, line: 10).Replace("\r\n=yend", "\r\n=yfoo\r\n=yend", StringComparison.Ordinal) + ".end\r\n";
        byte[] wire = [.. TestArticle.OnWire(body), .. "222 0 <next>\r\n"u8];
        var whole = DecoderRun.Of([wire]);
        var expected = whole.Describe();
        Assert.Equal(data, whole.Output);
        Assert.Equal(ArticleDefects.None, whole.Defects);
        Assert.Equal(wire.Length - "222 0 <next>\r\n".Length, whole.Consumed);

        foreach (var kernel in YencKernel.Supported)
        {
            foreach (var pieces in Splits.EveryPosition(wire))
                Assert.Equal(expected, DecoderRun.Of(pieces, kernel).Describe());
        }
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(63)]
    [InlineData(64)]
    [InlineData(65)]
    [InlineData(1000)]
    public void Output_fits_blocks_of_any_size(int blockSize)
    {
        var data = TestArticle.Noise(20_000, seed: 5);
        var wire = TestArticle.OnWire(TestArticle.Part(data));
        foreach (var kernel in YencKernel.Supported)
        {
            var run = DecoderRun.Of([wire], kernel, blockSize);
            Assert.Equal(ArticleDefects.None, run.Defects);
            Assert.Equal(data, run.Output);
        }
    }

    [Fact]
    public void Output_memory_is_requested_only_for_data()
    {
        var data = TestArticle.Noise(2 * 64 * 1024);
        var wire = TestArticle.OnWire(TestArticle.Part(data));
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(data.Length + 1);

        for (var at = 0; at < wire.Length; at += 1000)
            decoder.Decode(wire.AsSpan(at, Math.Min(1000, wire.Length - at)), output, out _);

        // If the decoder requested memory before it had data, the line ends after the last byte would take a third block.
        Assert.Equal(data, output.Written.ToArray());
        Assert.InRange(output.Requests, 2, (wire.Length / 1000) + 3);
        Assert.Equal(1, output.LargestHint);
        Assert.Equal(ArticleDefects.None, decoder.GetResult().Defects);
    }

    [Fact]
    public void Header_is_available_once_its_last_line_is_complete()
    {
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(10);

        decoder.Decode(TestArticle.Bytes("=ybegin part=2 total=3 line=128 size=9 name=x\r\n=ypart begin=4 e"), output, out _);
        Assert.False(decoder.HasHeader);
        decoder.Decode("nd=6\r\n"u8, output, out _);

        Assert.True(decoder.HasHeader);
        Assert.Equal((3L, 6L), (decoder.Header.Begin, decoder.Header.End));
        Assert.Equal((0, 0L), (output.Requests, decoder.Decoded));
    }

    [Fact]
    public void Decoder_allocates_nothing_per_article()
    {
        var wire = TestArticle.OnWire(TestArticle.Part(TestArticle.Noise(100_000)));
        foreach (var kernel in YencKernel.Supported)
            Assert.Equal(0, DecoderRun.Allocated(new ArticleDecoder(kernel), wire));
    }

    [Fact]
    public void Reset_decoder_forgets_the_previous_article()
    {
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(1000);
        decoder.Decode(TestArticle.Bytes("=ybegin part=1 total=9 line=128 size=9 name=old\r\nabc=\r\n."), output, out _);
        decoder.Reset();
        output.Clear();

        Assert.Equal((false, 0L), (decoder.HasHeader, decoder.Decoded));
        Assert.True(decoder.Decode(TestArticle.OnWire(TestArticle.Part(Data)), output, out _));
        Assert.Equal(Data, output.Written.ToArray());
        Assert.Equal(ArticleDefects.None, decoder.GetResult().Defects);
    }

    [Fact]
    public void Finished_decoder_consumes_no_more_input()
    {
        var decoder = new ArticleDecoder();
        var output = new ReusedBuffer(1000);
        Assert.True(decoder.Decode(TestArticle.OnWire(TestArticle.Part(Data)), output, out _));

        Assert.True(decoder.Decode("abc"u8, output, out var consumed));

        Assert.Equal((0, Data.Length), (consumed, output.Length));
    }

    [Fact]
    public void Random_articles_decode_in_random_pieces()
    {
        var random = new Random(11);
        for (var i = 0; i < 300; i++)
        {
            var data = TestArticle.Noise(random.Next(1, 5000), seed: i);
            var body = TestArticle.Part(data, line: random.Next(1, 300));
            var pieces = Splits.AtRandom(TestArticle.OnWire(body), random, longest: random.Next(1, 2000));
            var run = DecoderRun.Of(pieces, YencKernel.Supported[i % YencKernel.Supported.Count], random.Next(1, 500));
            Assert.True(run.Ended, i.ToString(CultureInfo.InvariantCulture));
            Assert.Equal(ArticleDefects.None, run.Defects);
            Assert.Equal(data, run.Output);
        }
    }
}
