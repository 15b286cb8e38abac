using System.Text;
using Sluice.Usenet.Media;
using Xunit;

namespace Sluice.Usenet.Tests.Media;

public sealed class MediaSignatureTests
{
    public static TheoryData<string, MediaKind> Starts => new()
    {
        { "1A45DFA3 93428288 6D6174726F736B61", MediaKind.Matroska },
        { "1A45DFA3 93428288 7765626D", MediaKind.WebM },
        { "00000020 66747970 69736F6D", MediaKind.Mp4 },
        { "00000020 66747970 4D344120", MediaKind.Mp4Audio },
        { "00000014 66747970 71742020", MediaKind.QuickTime },
        { "00000008 77696465 00000000", MediaKind.QuickTime },
        { "52494646 FFFFFFFF 41564920", MediaKind.Avi },
        { "52494646 FFFFFFFF 57415645", MediaKind.Wave },
        { "52494646 FFFFFFFF 57454250", MediaKind.WebP },
        { "52494646 FFFFFFFF 41434F4E", MediaKind.Unknown },
        { "000001BA 44", MediaKind.ProgramStream },
        { "000001B3", MediaKind.ProgramStream },
        { "3026B2758E66CF11", MediaKind.Asf },
        { "464C5601", MediaKind.FlashVideo },
        { "494433 04", MediaKind.Mp3 },
        { "FFFB9064", MediaKind.Mp3 },
        { "FFF15080", MediaKind.Unknown },
        { "FFFBF064", MediaKind.Unknown },
        { "2E524D46 00000012 00000000", MediaKind.RealMedia },
        { "464F524D 00000000 41494646", MediaKind.Aiff },
        { "464F524D 00000000 41494643", MediaKind.Aiff },
        { "464F524D 00000000 494C424D", MediaKind.Unknown },
        { "4D414320 960F0000 34000000", MediaKind.MonkeysAudio },
        { "4D414320 61646472 65737320", MediaKind.Unknown },
        { "44534420 1C000000 00000000", MediaKind.Dsd },
        { "7776706B 00000000 10040000", MediaKind.WavPack },
        { "664C6143", MediaKind.Flac },
        { "4F676753", MediaKind.Ogg },
        { "FFD8FFE0", MediaKind.Jpeg },
        { "89504E470D0A1A0A", MediaKind.Png },
        { "474946383961", MediaKind.Gif },
        { "526172211A0700", MediaKind.Rar4 },
        { "526172211A070100", MediaKind.Rar5 },
        { "377ABCAF271C", MediaKind.SevenZip },
        { "504B0304", MediaKind.Zip },
        { "504B0506", MediaKind.Zip },
        { "504B0708", MediaKind.Zip },
        { "1F8B08", MediaKind.Gzip },
        { "50415232 00504B54", MediaKind.Par2 },
        { "", MediaKind.Unknown },
        { "00", MediaKind.Unknown },
        { "526172", MediaKind.Unknown },
    };

    public static TheoryData<string, MediaKind> Texts => new()
    {
        { "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello", MediaKind.SubRip },
        { "\uFEFF1\n00:00:01,000 --> 00:00:02,000\nHello", MediaKind.SubRip },
        { "1\nHello", MediaKind.Unknown },
        { "[Script Info]\r\n", MediaKind.SubStation },
        { "WEBVTT\n", MediaKind.WebVtt },
        { "<?xml version=\"1.0\"?><!DOCTYPE nzb><nzb xmlns=\"x\">", MediaKind.Nzb },
        { "<?xml version=\"1.0\"?><rss/>", MediaKind.Xml },
        { "just words", MediaKind.Unknown },
    };

    [Theory]
    [MemberData(nameof(Starts))]
    public void First_bytes_determine_the_kind(string hex, MediaKind kind) =>
        Assert.Equal(kind, MediaSignature.Recognise(Convert.FromHexString(hex.Replace(" ", "", StringComparison.Ordinal))));

    [Theory]
    [MemberData(nameof(Texts))]
    public void First_lines_determine_the_kind(string text, MediaKind kind) =>
        Assert.Equal(kind, MediaSignature.Recognise(Encoding.UTF8.GetBytes(text)));

    [Theory]
    [InlineData(0, 188)]
    [InlineData(4, 192)]
    public void Regular_sync_bytes_are_a_transport_stream(int offset, int packet)
    {
        var bytes = new byte[1024];
        for (var place = offset; place < bytes.Length; place += packet)
            bytes[place] = 0x47;
        Assert.Equal(MediaKind.TransportStream, MediaSignature.Recognise(bytes));

        bytes[offset + 2 * packet] = 0;
        Assert.Equal(MediaKind.Unknown, MediaSignature.Recognise(bytes));
    }

    [Fact]
    public void Signatures_at_later_offsets_are_found()
    {
        var tar = new byte[512];
        "ustar\000"u8.CopyTo(tar.AsSpan(257));
        Assert.Equal(MediaKind.Tar, MediaSignature.Recognise(tar));

        var disc = new byte[40_000];
        "CD001"u8.CopyTo(disc.AsSpan(0x8001));
        Assert.Equal(MediaKind.DiscImage, MediaSignature.Recognise(disc));
        Assert.Equal(MediaKind.Unknown, MediaSignature.Recognise(disc.AsSpan(0, 1024)));

        "BEA01"u8.CopyTo(disc.AsSpan(0x8001));
        Assert.Equal(MediaKind.DiscImage, MediaSignature.Recognise(disc));
    }

    [Fact]
    public void Mp3_needs_a_second_frame()
    {
        var bytes = new byte[1024];
        Convert.FromHexString("FFFB9064").CopyTo(bytes, 0);
        Assert.Equal(MediaKind.Unknown, MediaSignature.Recognise(bytes));

        Convert.FromHexString("FFFB9064").CopyTo(bytes, 144 * 128_000 / 44_100);
        Assert.Equal(MediaKind.Mp3, MediaSignature.Recognise(bytes));
    }

    [Fact]
    public void Truncated_signature_never_matches_another_kind()
    {
        foreach (var row in Starts)
        {
            var (hex, kind) = row.Data;
            var bytes = Convert.FromHexString(hex.Replace(" ", "", StringComparison.Ordinal));
            for (var length = 0; length < bytes.Length; length++)
            {
                var cut = MediaSignature.Recognise(bytes.AsSpan(0, length));
                Assert.True(cut == MediaKind.Unknown || cut == kind || (cut, kind) is (MediaKind.Matroska, MediaKind.WebM), $"{hex} cut to {length}: {cut}");
            }
        }
    }

    [Fact]
    public void Every_known_kind_has_a_unique_first_extension()
    {
        var usual = Enum.GetValues<MediaKind>().Where(kind => kind is not (MediaKind.Unknown or MediaKind.Rar4))
            .Select(kind => MediaSignature.ExtensionsOf(kind)[0]).ToList();

        Assert.Equal(usual.Count, usual.Distinct().Count());
        Assert.Empty(MediaSignature.ExtensionsOf(MediaKind.Unknown));
    }

    [Theory]
    [InlineData(MediaKind.Matroska, MediaCategory.Video)]
    [InlineData(MediaKind.Flac, MediaCategory.Audio)]
    [InlineData(MediaKind.Rar5, MediaCategory.Archive)]
    [InlineData(MediaKind.Par2, MediaCategory.Par2)]
    [InlineData(MediaKind.SubRip, MediaCategory.Other)]
    [InlineData(MediaKind.DiscImage, MediaCategory.Other)]
    [InlineData(MediaKind.Unknown, MediaCategory.Other)]
    public void Kind_maps_to_its_category(MediaKind kind, MediaCategory category) =>
        Assert.Equal(category, MediaSignature.CategoryOf(kind));

    [Theory]
    [InlineData("mkv", MediaKind.Matroska)]
    [InlineData("MKV", MediaKind.Matroska)]
    [InlineData("m4a", MediaKind.Mp4Audio)]
    [InlineData("mov", MediaKind.QuickTime)]
    [InlineData("iso", MediaKind.DiscImage)]
    [InlineData("m2ts", MediaKind.TransportStream)]
    [InlineData("nfo", MediaKind.Unknown)]
    [InlineData("", MediaKind.Unknown)]
    public void Extension_maps_to_its_usual_kind(string extension, MediaKind kind) =>
        Assert.Equal(kind, MediaSignature.KindOf(extension));

    [Fact]
    public void Random_bytes_are_almost_always_unknown()
    {
        var random = new Random(3);
        var bytes = new byte[1024];
        var known = 0;
        for (var i = 0; i < 20_000; i++)
        {
            random.NextBytes(bytes);
            known += MediaSignature.Recognise(bytes) == MediaKind.Unknown ? 0 : 1;
        }

        Assert.InRange(known, 0, 3);
    }
}
