using System.Buffers.Binary;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

public sealed class SevenZipStartTests
{
    [Fact]
    public void Start_header_gives_archive_length_and_header_range()
    {
        var archive = FixtureArchive.Read("7z/packed-header.7z");
        var start = SevenZipStart.Read(archive)!.Value;

        Assert.Equal(archive.Length, start.Length);
        Assert.Equal(archive.Length, start.HeaderOffset + start.HeaderSize);
        Assert.True(start.IsHeader(archive.AsSpan((int)start.HeaderOffset)));
        Assert.False(start.IsHeader(archive.AsSpan((int)start.HeaderOffset + 1)));
        Assert.False(start.IsHeader(archive.AsSpan((int)start.HeaderOffset - 1, (int)start.HeaderSize)));
    }

    [Fact]
    public void Truncated_start_header_is_rejected()
    {
        var head = FixtureArchive.Read("7z/packed-header.7z").AsSpan(0, SevenZipStart.Size);
        for (var length = 0; length < head.Length; length++)
            Assert.Null(SevenZipStart.Read(head[..length]));
        Assert.NotNull(SevenZipStart.Read(head));
    }

    [Fact]
    public void Damaged_start_header_is_rejected_except_in_its_version()
    {
        var head = FixtureArchive.Read("7z/packed-header.7z")[..SevenZipStart.Size];
        for (var at = 0; at < head.Length; at++)
        {
            head[at] ^= 0x10;
            Assert.Equal(at is 6 or 7, SevenZipStart.Read(head) is not null);
            head[at] ^= 0x10;
        }
    }

    [Theory]
    [InlineData(-1, 1)]
    [InlineData(1, -1)]
    [InlineData(long.MaxValue, 0)]
    [InlineData(long.MaxValue - 40, 20)]
    [InlineData(0, long.MaxValue - 31)]
    public void Start_header_claiming_an_impossible_length_is_rejected(long offset, long size)
    {
        var head = FixtureArchive.Read("7z/packed-header.7z")[..SevenZipStart.Size];
        BinaryPrimitives.WriteInt64LittleEndian(head.AsSpan(12), offset);
        BinaryPrimitives.WriteInt64LittleEndian(head.AsSpan(20), size);
        BinaryPrimitives.WriteUInt32LittleEndian(head.AsSpan(8), Crc32Kernel.Append(0, head.AsSpan(12)));

        Assert.Null(SevenZipStart.Read(head));
    }
}
