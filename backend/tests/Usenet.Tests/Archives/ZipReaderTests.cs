using System.Buffers.Binary;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Archives written by Info-ZIP, 7-Zip and Python.</summary>
public sealed class ZipReaderTests
{
    private static readonly string[] Files = ["Subs/film.srt", "Subs/über.srt", "film.mkv", "film.nfo"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("stored.zip")]
    [InlineData("utf8.zip")]
    [InlineData("zip64.zip")]
    [InlineData("comment.zip")]
    [InlineData("stored-7z.zip")]
    [InlineData("prefix.zip")]
    [InlineData("prefix-adjusted.zip")]
    [InlineData("streamed.zip", 2)]
    [InlineData("streamed64.zip", 2)]
    public async Task Stored_archive_gives_all_files(string name, int files = 4)
    {
        var archive = FixtureArchive.Read($"zip/{name}");
        var map = await ReadAsync(archive);

        Assert.Equal(ArchiveFormat.Zip, map.Format);
        Assert.Equal(Files[^files..], map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, archive)));
        Assert.Empty(map.Notes);
        // SharpCompress refuses data before the archive, and mistakes the comment for the end.
        if (!name.StartsWith("prefix", StringComparison.Ordinal) && name != "comment.zip")
        {
            var foreign = FixtureArchive.Foreign(archive);
            Assert.All(map.Entries, entry => Assert.Equal(foreign[entry.Path], FixtureArchive.Bytes(entry, archive)));
        }
    }

    [Theory]
    [InlineData("deflate.zip", "Deflate")]
    [InlineData("bzip2.zip", "BZip2")]
    [InlineData("deflate64.zip", "Deflate64")]
    [InlineData("lzma.zipx", "LZMA")]
    [InlineData("ppmd.zipx", "PPMd")]
    [InlineData("xz.zipx", "XZ")]
    [InlineData("mixed.zip", "Deflate")]
    public async Task Compressed_entry_reports_its_method_without_a_local_read(string name, string method)
    {
        var input = new FixtureInput(FixtureArchive.Read($"zip/{name}"));
        var map = await ZipReader.ReadAsync(input, [input.Length], new ArchiveBudget(), Token);

        Assert.Equal(method, Assert.Single(map.Entries, entry => entry.Path == "Subs/film.srt").Method);
        Assert.All(map.Entries.Where(entry => entry.Method is not null), entry => Assert.Empty(entry.Extents));
        // Reads the tail, the directory, and a header for each stored file.
        Assert.Equal(2 + map.Entries.Count(entry => entry.Method is null), input.Reads);
    }

    [Theory]
    [InlineData("encrypted.zip")]
    [InlineData("aes.zip")]
    public Task Encrypted_archive_is_refused(string name) => AssertFailsAsync(ArchiveFault.Unsupported, FixtureArchive.Read($"zip/{name}"));

    [Fact]
    public async Task Split_archive_is_read_by_disk_and_fails_without_one()
    {
        byte[][] disks = [.. new[] { "split.z01", "split.z02", "split.zip" }.Select(name => FixtureArchive.Read($"zip/{name}"))];
        byte[] whole = [.. disks.SelectMany(disk => disk)];
        var map = await ReadAsync(disks);

        Assert.Equal(["film.mkv", "long.mkv"], map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, whole)));

        var lacking = await AssertFailsAsync(ArchiveFault.Incomplete, disks[1], disks[2]);
        Assert.Equal(3, lacking.Volumes);
        await AssertFailsAsync(ArchiveFault.Broken, disks[0], disks[1], []);
        await AssertFailsAsync(ArchiveFault.Broken, disks[1], disks[0], disks[2]);
    }

    [Fact]
    public async Task Raw_split_archive_is_read_without_disk_numbers()
    {
        var archive = FixtureArchive.Read("zip/stored.zip");
        var map = await ReadAsync(archive[..1000], archive[1000..3000], archive[3000..]);

        Assert.Equal(4, map.Entries.Count);
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, archive)));
    }

    [Fact]
    public async Task Names_without_the_UTF8_flag_are_code_page_437() =>
        Assert.Equal("üäö.mkv", Assert.Single((await ReadAsync(FixtureArchive.Read("zip/cp437.zip"))).Entries).Path);

    [Fact]
    public async Task Links_are_skipped_with_a_note()
    {
        var map = await ReadAsync(FixtureArchive.Read("zip/links.zip"));

        Assert.Equal("film.mkv", Assert.Single(map.Entries).Path);
        Assert.Equal("skipped a link: link.mkv", Assert.Single(map.Notes));
    }

    [Fact]
    public async Task Empty_archive_has_no_entries() => Assert.Empty((await ReadAsync(FixtureArchive.Read("zip/empty.zip"))).Entries);

    [Theory]
    [InlineData("stored.zip")]
    [InlineData("zip64.zip")]
    public async Task Truncated_archive_is_broken(string name)
    {
        var archive = FixtureArchive.Read($"zip/{name}");
        for (var length = 0; length < archive.Length; length++)
            await AssertFailsAsync(ArchiveFault.Broken, archive[..length]);
    }

    [Theory]
    [InlineData(8, 8)]
    [InlineData(6, 1)]
    [InlineData(26, 7)]
    [InlineData(30, (byte)'F')]
    [InlineData(0, 0)]
    public async Task Local_header_contradicting_the_directory_is_broken(int field, byte value)
    {
        var archive = FixtureArchive.Read("zip/stored.zip");
        archive[field] = value;
        await AssertFailsAsync(ArchiveFault.Broken, archive);
    }

    [Fact]
    public async Task Overlapping_entries_are_broken()
    {
        var archive = FixtureArchive.Read("zip/stored.zip");
        // Overwrites name and offset of the second entry with those of the first.
        var entries = PlacesOf(archive, 0x02014B50);
        archive.AsSpan(entries[0], 46 + 8).CopyTo(archive.AsSpan(entries[1]));
        await AssertFailsAsync(ArchiveFault.Broken, archive);
    }

    [Fact]
    public async Task Stored_entry_with_contradicting_lengths_is_broken()
    {
        var archive = FixtureArchive.Read("zip/stored.zip");
        archive[PlacesOf(archive, 0x02014B50)[0] + 20]++;
        await AssertFailsAsync(ArchiveFault.Broken, archive);
    }

    [Fact]
    public void Truncated_directory_entry_is_broken()
    {
        var archive = FixtureArchive.Read("zip/zip64.zip");
        ReadOnlyMemory<byte> entry = archive.AsMemory(PlacesOf(archive, 0x02014B50)[0]);
        var rest = entry;
        Assert.Equal("film.mkv", ZipItem.Read(ref rest).Path);
        var size = entry.Length - rest.Length;
        for (var length = 0; length < size; length++)
        {
            var cut = entry[..length];
            Assert.Equal(ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => ZipItem.Read(ref cut)).Fault);
        }
    }

    [Fact]
    public void Truncated_end_record_is_rejected()
    {
        var archive = FixtureArchive.Read("zip/stored.zip");
        var end = archive.AsSpan(archive.Length - 22);
        for (var length = 0; length < end.Length; length++)
            Assert.Null(ZipEnd.Read(end[..length], isAll: true));
        Assert.Equal(6, ZipEnd.Read(end, isAll: true)!.Value.Entries);
    }

    private static List<int> PlacesOf(byte[] archive, uint signature) =>
        [.. Enumerable.Range(0, archive.Length - 3).Where(at => BinaryPrimitives.ReadUInt32LittleEndian(archive.AsSpan(at)) == signature)];

    private static Task<ArchiveMap> ReadAsync(params byte[][] disks) => ZipReader.ReadAsync(
        new JoinedInput([.. disks.Select(disk => new FixtureInput(disk))]), [.. disks.Select(disk => (long)disk.Length)], new ArchiveBudget(), Token);

    private static async Task<ArchiveException> AssertFailsAsync(ArchiveFault fault, params byte[][] disks)
    {
        var exception = await Assert.ThrowsAsync<ArchiveException>(() => ReadAsync(disks));
        Assert.Equal(fault, exception.Fault);
        return exception;
    }

    private static void AssertHolds(ArchiveEntry entry, byte[] bytes)
    {
        Assert.Equal(FixtureArchive.Source(entry.Path), bytes);
        Assert.Equal(entry.Crc32, Crc32Kernel.Append(0, bytes));
    }
}
