using Sluice.Testing;
using Sluice.Usenet.Media;
using Xunit;

namespace Sluice.Usenet.Tests.Media;

/// <summary>Kind and size of pictures.</summary>
public sealed class PictureHeaderTests
{
    public static TheoryData<string, byte[], MediaKind> Pictures => new()
    {
        { "WebP", TestPictures.WebP(320, 180), MediaKind.WebP },
        { "lossless WebP", TestPictures.LosslessWebP(320, 180), MediaKind.WebP },
        { "extended WebP", TestPictures.ExtendedWebP(320, 180), MediaKind.WebP },
        { "PNG", TestPictures.Png(320, 180), MediaKind.Png },
        { "JPEG", TestPictures.Jpeg(320, 180), MediaKind.Jpeg },
    };

    [Theory]
    [MemberData(nameof(Pictures))]
    public void Size_is_read_from_the_header(string name, byte[] file, MediaKind kind)
    {
        Assert.NotEmpty(name);
        Assert.Equal(new PictureHeader(kind, 320, 180), PictureHeader.Read(file));
    }

    [Theory]
    [MemberData(nameof(Pictures))]
    public void Truncated_or_damaged_header_gives_no_picture_or_another_size(string name, byte[] file, MediaKind kind)
    {
        for (var length = 0; length < file.Length; length++)
            Assert.True(PictureHeader.Read(file.AsSpan(0, length)) is null or { Width: 320, Height: 180 }, $"{name} of {length} bytes");
        for (var at = 0; at < 64; at++)
        {
            for (var bit = 0; bit < 8; bit++)
            {
                byte[] other = [.. file];
                other[at] ^= (byte)(1 << bit);
                Assert.True(PictureHeader.Read(other) is null or { Width: > 0, Height: > 0 }, $"{kind}, bit {bit} of byte {at}");
            }
        }
    }

    [Fact]
    public void Empty_sizes_and_animations_are_not_pictures()
    {
        Assert.Null(PictureHeader.Read(TestPictures.WebP(0, 180)));
        Assert.Null(PictureHeader.Read(TestPictures.Png(320, 0)));
        Assert.Null(PictureHeader.Read(TestPictures.Png(-1, 180)));
        Assert.Null(PictureHeader.Read(TestPictures.Jpeg(0, 0)));
        Assert.Null(PictureHeader.Read(TestPictures.ExtendedWebP(320, 180, flags: 0x02)));
        Assert.Null(PictureHeader.Read([.. TestPictures.Png(320, 180), .. "acTL"u8]));
        Assert.Null(PictureHeader.Read("GIF89a\u0001\u0001"u8));
    }

    [Fact]
    public void Endless_segments_of_a_JPEG_end_the_search()
    {
        byte[] file = [0xFF, 0xD8, .. Enumerable.Range(0, 20_000).SelectMany(_ => (byte[])[0xFF, 0xE1, 0x00, 0x02])];

        Assert.Null(PictureHeader.Read(file));
    }
}
