using System.IO.Compression;
using Sluice.Usenet.Nzb;
using Xunit;
using static Sluice.Usenet.Tests.Nzb.NzbSource;

namespace Sluice.Usenet.Tests.Nzb;

public sealed class NzbLimitsTests
{
    private static readonly string One = File("s", Segment(1, "a@x"));

    public static TheoryData<string, NzbLimits> Exceeding => new()
    {
        { Document(One, One, One), new NzbLimits { MaxFiles = 2 } },
        { Document(File("s", Segment(1, "a@x"), Segment(1, "a@x"), Segment(1, "a@x"))), new NzbLimits { MaxSegments = 2 } },
        { Document(File("s", Segment(2, "a@x")), File("t", Segment(2, "a@x"))), new NzbLimits { MaxSegments = 3 } },
        { Document(File("s", Segment(2, "a@x")), File("s", Segment(2, "a@x"))), new NzbLimits { MaxSegments = 3 } },
        { Document(File("s", Segment(12, "a@x"))), new NzbLimits { MaxHoles = 10 } },
        { Document(File(new string('s', 4097), Segment(1, "a@x"))), NzbLimits.Default },
        { Document(File(new string('ü', 2049), Segment(1, "a@x"))), NzbLimits.Default },
        { Document($"<x y='{new string('z', 65_537)}'/>", One), NzbLimits.Default },
        { Document($"<x>{new string('z', 65_537)}</x>", One), NzbLimits.Default },
        { Document($"<!--{new string('z', 300_000)}-->", One), NzbLimits.Default },
        { Document($"<!--{new string('<', 300_000)}-->", One), NzbLimits.Default },
        { Document($"<{new string('x', 1025)}/>", One), NzbLimits.Default },
        { Document($"<x xmlns=\"{new string('x', 1025)}\"/>", One), NzbLimits.Default },
        { Document(string.Concat(Enumerable.Repeat("<x>", 16)), One), NzbLimits.Default },
        { Document(string.Concat(Enumerable.Range(0, 4100).Select(i => $"<x{i}/>")), One), NzbLimits.Default },
        { Document(One), new NzbLimits { MaxBytes = 300 } },
    };

    [Theory]
    [MemberData(nameof(Exceeding), DisableDiscoveryEnumeration = true)]
    public async Task Nzb_above_any_limit_is_too_large(string nzb, NzbLimits limits) =>
        Assert.Equal(NzbFault.TooLarge, (await RefusalAsync(nzb, limits)).Fault);

    [Fact]
    public async Task Nzb_exactly_at_the_limits_is_read()
    {
        var nzb = Document(
            $"<x y='{new string('z', 65_536)}'>{new string('z', 65_536)}</x>",
            $"<{new string('n', 1024)}/><!--{new string('<', 200_000)}--><x><![CDATA[{new string('<', 65_535)}]]]></x>",
            string.Concat(Enumerable.Repeat("<!-- <![CDATA[ --><![CDATA[ <!-- ]]>", 10_000)),
            string.Concat(Enumerable.Repeat("<x>", 15)) + string.Concat(Enumerable.Repeat("</x>", 15)),
            File(new string('s', 4096), Segment(1, "a@x"), Segment(13, "b@x")));

        var files = await ReadAsync(nzb, limits: new NzbLimits { MaxFiles = 1, MaxSegments = 13, MaxHoles = 11, MaxBytes = nzb.Length });

        Assert.Equal(11, Assert.Single(files).Holes);
    }

    [Fact]
    public async Task Gzip_bomb_stops_at_the_compression_ratio()
    {
        var packed = new MemoryStream();
        await using (var gzip = new GZipStream(packed, CompressionLevel.Optimal, leaveOpen: true))
        {
            await gzip.WriteAsync("<nzb>"u8.ToArray(), TestContext.Current.CancellationToken);
            var blank = new byte[1 << 20];
            Array.Fill(blank, (byte)'\n');
            for (var i = 0; i < 64; i++)
                await gzip.WriteAsync(blank, TestContext.Current.CancellationToken);
        }

        var plain = await NzbDecompression.OpenAsync(new MemoryStream(packed.ToArray()), null, TestContext.Current.CancellationToken);
        var copied = new MemoryStream();
        var refusal = await Assert.ThrowsAsync<NzbFormatException>(() => plain.CopyToAsync(copied, TestContext.Current.CancellationToken));

        Assert.Equal(NzbFault.TooLarge, refusal.Fault);
        Assert.InRange(copied.Length, 1 << 20, packed.Length * 200);
    }

    [Fact]
    public async Task Entity_bomb_is_never_expanded()
    {
        var entities = string.Concat(Enumerable.Range(1, 20).Select(i => $"<!ENTITY e{i} \"&e{i - 1};&e{i - 1};&e{i - 1};&e{i - 1};\">"));
        var refusal = await RefusalAsync($"<!DOCTYPE nzb [<!ENTITY e0 \"boom\">{entities}]><nzb><head><meta type=\"title\">&e20;</meta></head></nzb>");

        Assert.Equal(NzbFault.NotAnNzb, refusal.Fault);
    }
}
