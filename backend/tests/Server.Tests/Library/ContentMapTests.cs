using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class ContentMapTests
{
    private static readonly ContentExtent[] Extents = [new(0, 0, 1), new(3, 5_000_000_000, 700_000), new(2, 17, 0)];

    [Fact]
    public void Packed_map_is_read_back_equal() => Assert.Equal(Extents, ContentMap.Unpack(ContentMap.Pack(Extents)));

    [Fact]
    public void Map_cut_anywhere_is_refused()
    {
        var packed = ContentMap.Pack(Extents);

        for (var length = 0; length < packed.Length; length++)
            Assert.Throws<InvalidDataException>(() => ContentMap.Unpack(packed.AsMemory(0, length)));
    }

    [Theory]
    [InlineData(new byte[] { 2, 0 })]
    [InlineData(new byte[] { 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07 })]
    [InlineData(new byte[] { 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F })]
    [InlineData(new byte[] { 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0, 0 })]
    [InlineData(new byte[] { 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0 })]
    public void Nonsense_is_refused_without_allocating_for_it(byte[] packed) =>
        Assert.Throws<InvalidDataException>(() => ContentMap.Unpack(packed));
}
