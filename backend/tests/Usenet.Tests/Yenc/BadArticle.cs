using System.Globalization;
using Sluice.Testing;
using Xunit;

namespace Sluice.Usenet.Tests.Yenc;

/// <summary>The pieces of one good article, for tests that damage them, and a run whose result must not depend on splits.</summary>
internal static class BadArticle
{
    public static readonly byte[] Data = TestArticle.Noise(200, seed: 7);
    public static readonly string Lines = TestArticle.Encode(Data);
    public static readonly uint Crc = YencReference.Crc(Data);

    public const string Begin = "=ybegin part=2 total=3 line=128 size=600 name=film.mkv\r\n";
    public const string PartLine = "=ypart begin=201 end=400\r\n";

    public static string End => $"=yend size=200 part=2 pcrc32={Crc:x8}\r\n";

    /// <summary>Decodes a body in one piece, and also byte by byte, so that hidden state would show.</summary>
    public static DecoderRun Run(string body, bool byteByByte = true)
    {
        var wire = TestArticle.OnWire(body);
        var run = DecoderRun.Of([wire]);
        Assert.True(run.Ended, body.Length.ToString(CultureInfo.InvariantCulture));
        Assert.Equal(wire.Length, run.Consumed);
        if (byteByByte)
            Assert.Equal(run.Describe(), DecoderRun.Of(Splits.ByteByByte(wire)).Describe());
        return run;
    }
}
