using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

public sealed class SplitSetTests
{
    // All volumes differ, and one is empty.
    private static readonly byte[][] Volumes = [[1, 2, 3], [4], [], [5, 6, 7, 8, 9], [10, 11]];

    private static readonly byte[] Whole = [.. Volumes.SelectMany(volume => volume)];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Joined_volumes_read_back_every_range()
    {
        var joined = new JoinedInput([.. Volumes.Select(volume => new FixtureInput(volume))]);
        Assert.Equal(Whole.Length, joined.Length);
        for (var offset = 0; offset <= Whole.Length; offset++)
        {
            for (var length = 0; length <= Whole.Length - offset; length++)
            {
                var bytes = new byte[length];
                await joined.ReadAsync(offset, bytes, Token);
                Assert.Equal(Whole[offset..(offset + length)], bytes);
            }
        }
    }

    [Fact]
    public void Slices_are_in_order_and_never_empty()
    {
        var set = SplitSet.OfVolumes(Volumes.Select(volume => (long)volume.Length));

        Assert.Equal([new ArchiveExtent(0, 2, 1), new ArchiveExtent(1, 0, 1), new ArchiveExtent(3, 0, 2)], set.Slice(2, 4));
        Assert.Empty(set.Slice(4, 0));
        Assert.Empty(set.Slice(set.Length, 0));
        Assert.Empty(new SplitSet([]).Slice(0, 0));
        // An extent of a nested archive is a slice of the extents of the outer entry.
        Assert.Equal([new ArchiveExtent(7, 102, 3), new ArchiveExtent(9, 50, 1)], new SplitSet([new(7, 100, 5), new(9, 50, 20)]).Slice(2, 4));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Slice(10, 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Slice(-1, 2));
        Assert.Throws<ArgumentOutOfRangeException>(() => set.Slice(12, 0));
    }

    [Fact]
    public void Volumes_above_the_maximum_file_length_are_broken() =>
        Assert.Throws<ArchiveException>(() => SplitSet.OfVolumes([long.MaxValue, 1]));

    [Fact]
    public void Pieces_are_ordered_by_their_numbers()
    {
        Assert.Equal("film.mkv", SplitSet.Order(["film.mkv.002", "film.mkv.001", "FILM.mkv.003"])!.Name, ignoreCase: true);
        Assert.Equal([1, 0, 2], SplitSet.Order(["film.mkv.002", "film.mkv.001", "FILM.mkv.003"])!.Order);
        Assert.Equal(0, SplitSet.Order(["film.mkv.000", "film.mkv.001"])!.Missing);
        Assert.Equal(0, SplitSet.Order(["film.mkv.001", "film.mkv.002"])!.Missing);
        Assert.Equal(1, SplitSet.Order(["film.mkv.002", "film.mkv.003"])!.Missing);
        Assert.Equal(996, SplitSet.Order(["film.7z.001", "film.7z.999", "film.7z.1000", "film.7z.002"])!.Missing);
        Assert.Null(SplitSet.Order([]));
        Assert.Null(SplitSet.Order(["film.mkv.001", "film.mkv.01"]));
        Assert.Null(SplitSet.Order(["film.mkv.001", "other.mkv.002"]));
        Assert.Null(SplitSet.Order(["film.mkv.001", "film.mkv"]));
        Assert.Null(SplitSet.Order(["film.1"]));
        Assert.Null(SplitSet.Order([".001"]));
        Assert.Null(SplitSet.Order(["film.99999999999"]));
    }

    [Fact]
    public async Task Entry_across_volumes_reads_as_one_input()
    {
        var entry = new ArchiveEntry { Path = "inner.7z", Length = 4, Extents = [new(3, 1, 3), new(4, 1, 1)] };
        var input = new EntryInput(entry, [.. Volumes.Select(volume => new FixtureInput(volume))], (_, _, _) => throw new NotSupportedException());
        var bytes = new byte[3];
        await input.ReadAsync(1, bytes, Token);

        Assert.Equal(4, input.Length);
        Assert.Equal([7, 8, 11], bytes);
    }

    [Fact]
    public void Encrypted_entry_is_read_through_its_decryptor()
    {
        var cipher = new StreamCipher(new byte[32], new byte[16]);
        var entry = new ArchiveEntry { Path = "inner.7z", Length = 5, Extents = [new(0, 0, 3), new(3, 0, 5)], Cipher = cipher };
        var input = new EntryInput(entry, [.. Volumes.Select(volume => new FixtureInput(volume))], (text, known, length) =>
        {
            Assert.Equal(8, text.Length);
            Assert.Same(cipher, known);
            return new FixtureInput(new byte[length]);
        });

        Assert.Equal(5, input.Length);
    }

    [Fact]
    public void Compressed_undecided_or_out_of_range_entry_is_refused()
    {
        var entry = new ArchiveEntry { Path = "inner.7z", Length = 1, Extents = [new(0, 0, 1)] };
        AssertFails(ArchiveFault.Unsupported, entry with { Method = "LZMA" });
        AssertFails(ArchiveFault.Unsupported, entry with { Candidates = new CipherCandidates(["secret"], _ => new StreamCipher(new byte[32], new byte[16])) });
        AssertFails(ArchiveFault.Broken, entry with { Extents = [new(5, 0, 1)] });
        AssertFails(ArchiveFault.Broken, entry with { Extents = [new(0, 3, 1)] });
        AssertFails(ArchiveFault.Broken, entry with { Extents = [new(0, 0, 2)] });

        static void AssertFails(ArchiveFault fault, ArchiveEntry entry) => Assert.Equal(
            fault,
            Assert.Throws<ArchiveException>(() => new EntryInput(entry, [.. Volumes.Select(volume => new FixtureInput(volume))], (text, _, _) => text)).Fault);
    }
}
