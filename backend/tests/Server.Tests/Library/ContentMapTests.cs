using Sluice.Server.Library;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class ContentMapTests
{
    private static readonly ContentExtent[] Extents = [new(0, 0, 1), new(3, 5_000_000_000, 700_000), new(2, 17, 0)];

    private static readonly FileContent[] Contents =
    [
        new(Extents),
        new(Extents) { Cipher = Cipher(32) },
        new(Extents) { Cipher = Cipher(16) with { Skip = 31 } },
    ];

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void Packed_map_is_unpacked_unchanged(int which)
    {
        var content = Contents[which];

        var read = ContentMap.Unpack(ContentMap.Pack(content));

        Assert.Equal(content.Extents, read.Extents);
        Assert.Equal(content.Cipher?.Skip, read.Cipher?.Skip);
        Assert.Equal(content.Cipher?.Key.ToArray(), read.Cipher?.Key.ToArray());
        Assert.Equal(content.Cipher?.Iv.ToArray(), read.Cipher?.Iv.ToArray());
    }

    [Fact]
    public void Map_of_a_plain_file_uses_format_version_1() =>
        Assert.Equal([1, 1, 2, 3, 4], ContentMap.Pack(new FileContent([new ContentExtent(2, 3, 4)])));

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(2)]
    public void Truncated_map_is_refused(int which)
    {
        var packed = ContentMap.Pack(Contents[which]);

        for (var length = 0; length < packed.Length; length++)
            Assert.Throws<InvalidDataException>(() => ContentMap.Unpack(packed.AsMemory(0, length)));
    }

    [Theory]
    [InlineData(new byte[] { 3, 0 })]
    [InlineData(new byte[] { 2, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })]
    [InlineData(new byte[] { 2, 0, 32, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 })]
    [InlineData(new byte[] { 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07 })]
    [InlineData(new byte[] { 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F })]
    [InlineData(new byte[] { 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0 })]
    [InlineData(new byte[] { 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0 })]
    public void Invalid_map_is_refused(byte[] packed) =>
        Assert.Throws<InvalidDataException>(() => ContentMap.Unpack(packed));

    private static StreamCipher Cipher(int keyBytes) =>
        new(Enumerable.Range(1, keyBytes).Select(i => (byte)i).ToArray(), Enumerable.Range(100, 16).Select(i => (byte)i).ToArray());
}
