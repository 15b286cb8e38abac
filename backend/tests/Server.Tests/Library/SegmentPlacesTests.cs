using Sluice.Server.Library;
using Xunit;

namespace Sluice.Server.Tests.Library;

public sealed class SegmentPlacesTests
{
    [Fact]
    public void Segment_positions_are_found_and_read_back_unchanged()
    {
        var places = SegmentPlaces.Join([(5, 2), (7, 1), (SegmentPlaces.Nowhere, 1), (SegmentPlaces.Nowhere, 1), (0, 1), (0, 1)]);

        Assert.Equal([5, 6, 7, -1, -1, 0, 0], Enumerable.Range(0, places.Count).Select(i => places[i]));
        Assert.Equal(7, places.Last);
        Assert.Equal(places, SegmentPlaces.Unpack(places.Pack()));
        Assert.Equal(SegmentPlaces.Range(5, 9), SegmentPlaces.Join(Enumerable.Range(5, 9).Select(place => (place, 1))));
        Assert.Throws<ArgumentOutOfRangeException>(() => places[7]);
    }

    [Theory]
    [InlineData(new byte[] { })]
    [InlineData(new byte[] { 2, 1, 1 })]
    [InlineData(new byte[] { 1, 1 })]
    [InlineData(new byte[] { 1, 1, 0 })]
    [InlineData(new byte[] { 1, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07 })]
    public void Invalid_packed_segment_positions_are_refused(byte[] packed) => Assert.Throws<InvalidDataException>(() => SegmentPlaces.Unpack(packed));
}
