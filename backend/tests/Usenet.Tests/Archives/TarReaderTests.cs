using System.Buffers.Binary;
using System.Text;
using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Archives written by GNU tar and Python.</summary>
public sealed class TarReaderTests
{
    private static readonly string Deep = string.Concat(Enumerable.Repeat("season ", 20));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("v7.tar", "film.mkv", "film.nfo")]
    [InlineData("ustar.tar", "Subs/film.srt", "Subs/über.srt", "film.mkv", "film.nfo")]
    [InlineData("gnu.tar", "Subs/film.srt", "Subs/über.srt", "film.mkv", "film.nfo")]
    [InlineData("pax.tar", "Subs/film.srt", "Subs/über.srt", "film.mkv", "film.nfo")]
    [InlineData("pax-global.tar", "Renamed/über film.mkv", "Renamed/über film.nfo")]
    [InlineData("label.tar", "film.mkv")]
    public async Task Archive_gives_all_files(string name, params string[] files)
    {
        var archive = FixtureArchive.Read($"tar/{name}");
        var map = await ReadAsync(archive);

        Assert.Equal(ArchiveFormat.Tar, map.Format);
        Assert.Equal(files, map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => Assert.Equal(FixtureArchive.Source(entry.Path.Split(' ', '/')[^1]), FixtureArchive.Bytes(entry, archive)));
        if (name != "label.tar")
        {
            var foreign = FixtureArchive.Foreign(archive);
            Assert.All(map.Entries, entry => Assert.Equal(foreign[entry.Path], FixtureArchive.Bytes(entry, archive)));
        }
    }

    [Theory]
    [InlineData("ustar.tar")]
    [InlineData("gnu.tar")]
    [InlineData("pax.tar")]
    public async Task Links_and_devices_are_skipped_with_a_note(string name) => Assert.Equal(
        ["hard.mkv", "link.mkv", "pipe"],
        (await ReadAsync(FixtureArchive.Read($"tar/{name}"))).Notes.Select(note => note.Split(": ")[1]).Order(StringComparer.Ordinal));

    [Theory]
    [InlineData("gnu-long.tar")]
    [InlineData("pax-long.tar")]
    public async Task Long_name_applies_to_one_entry_only(string name)
    {
        var archive = FixtureArchive.Read($"tar/{name}");
        var map = await ReadAsync(archive);

        Assert.Equal(["film.mkv", $"{Deep}/{Deep}.nfo", "film.nfo"], map.Entries.Select(entry => entry.Path));
        Assert.Equal(FixtureArchive.Source("film.nfo"), FixtureArchive.Bytes(map.Entries[1], archive));
        Assert.Equal(FixtureArchive.Source("film.nfo"), FixtureArchive.Bytes(map.Entries[2], archive));
    }

    [Fact]
    public async Task Ustar_prefix_is_prepended_to_the_path()
    {
        var map = await ReadAsync(FixtureArchive.Read("tar/prefix.tar"));
        var half = string.Concat(Enumerable.Repeat("a folder of a show, ", 4));

        Assert.Equal(["film.mkv", $"{half}/{half}/film.nfo"], map.Entries.Select(entry => entry.Path));
    }

    [Theory]
    [InlineData("gnu-sparse.tar")]
    [InlineData("pax-sparse-0.0.tar")]
    [InlineData("pax-sparse-0.1.tar")]
    [InlineData("pax-sparse-1.0.tar")]
    public Task Sparse_file_is_refused(string name) => AssertFailsAsync(ArchiveFault.Unsupported, FixtureArchive.Read($"tar/{name}"));

    [Fact]
    public async Task Each_header_costs_one_read_of_512_bytes()
    {
        var input = new FixtureInput(FixtureArchive.Read("tar/ustar.tar"));
        var budget = new ArchiveBudget();
        await TarReader.ReadAsync(input, budget, Token);

        // Reads eight items and the first block of the end.
        Assert.Equal(10, input.Reads);
        Assert.Equal(10, budget.Steps);
        Assert.Equal(10 * TarHeader.Size, input.BytesRead);
        Assert.Equal(input.BytesRead, budget.Bytes);
    }

    [Theory]
    [InlineData(2047, null)]
    [InlineData(2048, ArchiveFault.Unsupported)]
    public async Task Headers_above_one_mebibyte_are_refused(int count, ArchiveFault? fault)
    {
        byte[] archive = [.. Enumerable.Range(0, count).SelectMany(i => Header($"{i}.mkv", "1").Concat(new byte[512])), .. new byte[1024]];
        if (fault is { } expected)
            await AssertFailsAsync(expected, archive);
        else
            Assert.Equal(count, (await ReadAsync(archive)).Entries.Count);
    }

    [Fact]
    public async Task Archive_truncated_in_a_header_or_data_is_broken()
    {
        var archive = FixtureArchive.Read("tar/gnu-long.tar");
        var ends = new HashSet<int>();
        for (var length = 0; length < archive.Length; length++)
        {
            try
            {
                var map = await ReadAsync(archive[..length]);
                Assert.All(map.Entries, entry => Assert.InRange(entry.Extents[0].Offset + entry.Extents[0].Length, 1, length));
                ends.Add(map.Entries.Count);
            }
            catch (ArchiveException e)
            {
                Assert.Equal(ArchiveFault.Broken, e.Fault);
            }
        }

        // After a cut between two entries nothing shows that more should follow.
        Assert.Equal([0, 1, 2, 3], ends.Order());
    }

    [Fact]
    public void Truncated_or_changed_header_is_rejected()
    {
        var header = FixtureArchive.Read("tar/ustar.tar")[..TarHeader.Size];
        Assert.Equal(new TarHeader(TarKind.File, "film.mkv", 5003), TarHeader.Read(header));
        for (var at = 0; at < header.Length; at++)
        {
            Assert.Null(TarHeader.Read(header.AsSpan(0, at)));
            header[at] ^= 2;
            Assert.Null(TarHeader.Read(header));
            header[at] ^= 2;
        }
    }

    [Fact]
    public void Base_256_length_is_read_and_a_negative_one_is_rejected()
    {
        var size = new byte[12];
        BinaryPrimitives.WriteInt64BigEndian(size.AsSpan(4), 50L << 30);
        size[0] = 0x80;
        Assert.Equal(50L << 30, TarHeader.Read(Header("film.mkv", size))!.Value.Length);
        size.AsSpan().Fill(0xFF);
        Assert.Null(TarHeader.Read(Header("film.mkv", size)));
        size[0] = 0x80;
        Assert.Null(TarHeader.Read(Header("film.mkv", size)));
    }

    [Fact]
    public void Checksum_over_signed_bytes_is_accepted()
    {
        var header = Header("\u00FC.mkv", "1", isSigned: true);
        Assert.NotNull(TarHeader.Read(header));
    }

    [Theory]
    [InlineData("x")]
    [InlineData("5 a=")]
    [InlineData("99 path=a\n")]
    [InlineData("6 path\n")]
    [InlineData("3 a\n")]
    [InlineData("-1 path=a\n")]
    [InlineData("0 path=a\n")]
    [InlineData("10 path=a\n9")]
    public void Damaged_pax_record_is_broken(string records) =>
        Assert.Equal(ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => new TarNames().Add(TarKind.Pax, Encoding.UTF8.GetBytes(records))).Fault);

    [Fact]
    public void Pax_file_records_override_globals_and_empty_ones_reset()
    {
        var names = new TarNames();
        var header = new TarHeader(TarKind.File, "own.mkv", 3);
        names.Add(TarKind.GlobalPax, "16 path=all.mkv\n11 size=77\n"u8);
        Assert.Equal(header with { Path = "all.mkv", Length = 77 }, names.Apply(header));
        names.Add(TarKind.Pax, "16 path=one.mkv\n11 size=99\n"u8);
        Assert.Equal(header with { Path = "one.mkv", Length = 99 }, names.Apply(header));
        Assert.Equal(header with { Path = "all.mkv", Length = 77 }, names.Apply(header));
        names.Add(TarKind.Pax, "8 path=\n8 size=\n"u8);
        Assert.Equal(header, names.Apply(header));
        names.Add(TarKind.Pax, "11 size=-9\n"u8);
        Assert.Throws<ArchiveException>(() => names.Apply(header));
    }

    private static byte[] Header(string name, string octalSize, bool isSigned = false) => Header(name, Encoding.ASCII.GetBytes(octalSize), isSigned);

    private static byte[] Header(string name, byte[] size, bool isSigned = false)
    {
        var header = new byte[512];
        Encoding.Latin1.GetBytes(name).CopyTo(header, 0);
        size.CopyTo(header, 124);
        header[156] = (byte)'0';
        header.AsSpan(148, 8).Fill((byte)' ');
        var sum = header.Sum(value => isSigned ? (sbyte)value : value);
        Encoding.ASCII.GetBytes(Convert.ToString(sum, 8).PadLeft(6, '0') + "\0").CopyTo(header, 148);
        return header;
    }

    private static Task<ArchiveMap> ReadAsync(byte[] archive) => TarReader.ReadAsync(new FixtureInput(archive), new ArchiveBudget(), Token);

    private static async Task AssertFailsAsync(ArchiveFault fault, byte[] archive) =>
        Assert.Equal(fault, (await Assert.ThrowsAsync<ArchiveException>(() => ReadAsync(archive))).Fault);
}
