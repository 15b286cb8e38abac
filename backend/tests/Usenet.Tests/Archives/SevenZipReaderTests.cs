using Sluice.Usenet.Archives;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Archives written by 7-Zip and bsdtar.</summary>
public sealed class SevenZipReaderTests
{
    private static readonly string[] Files = ["Subs/film.srt", "Subs/über.srt", "film.mkv", "film.nfo"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("plain-header.7z")]
    [InlineData("packed-header.7z")]
    [InlineData("bsdtar.7z")]
    public async Task Stored_archive_gives_all_files(string name)
    {
        var archive = FixtureArchive.Read($"7z/{name}");
        var map = await ReadAsync(archive, SevenZipKeys.Of());

        Assert.Equal(ArchiveFormat.SevenZip, map.Format);
        Assert.Equal(Files, map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, archive)));
        AssertEqualsForeign(map, FixtureArchive.Foreign(archive), entry => FixtureArchive.Bytes(entry, archive));
        Assert.Empty(map.Notes);
    }

    [Theory]
    [InlineData("hidden.7z")]
    [InlineData("hidden-plain.7z")]
    public async Task Encrypted_header_opens_only_with_the_right_password(string name)
    {
        var archive = FixtureArchive.Read($"7z/{name}");
        var map = await ReadAsync(archive, SevenZipKeys.Of("wrong", "secret", "other"));

        Assert.Equal(Files, map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => Assert.NotNull(entry.Cipher));
        Assert.All(map.Entries, entry => Assert.Empty(entry.Candidates));
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, archive)));
        AssertEqualsForeign(map, FixtureArchive.Foreign(archive, "secret"), entry => FixtureArchive.Bytes(entry, archive));

        await AssertFailsAsync(ArchiveFault.NoPassword, archive, SevenZipKeys.Of());
        await AssertFailsAsync(ArchiveFault.WrongPassword, archive, SevenZipKeys.Of("wrong"));
    }

    [Fact]
    public async Task Plain_header_leaves_every_password_as_a_candidate()
    {
        var archive = FixtureArchive.Read("7z/encrypted.7z");
        var map = await ReadAsync(archive, SevenZipKeys.Of("wrong", "secret"));

        Assert.Equal(4, map.Entries.Count);
        foreach (var entry in map.Entries)
        {
            Assert.Null(entry.Cipher);
            Assert.Equal(2, entry.Candidates.Count);
            Assert.NotEqual(entry.Crc32, Crc32Kernel.Append(0, FixtureArchive.Bytes(entry, archive, entry.Candidates[0])));
            AssertHolds(entry, FixtureArchive.Bytes(entry, archive, entry.Candidates[1]));
        }

        await AssertFailsAsync(ArchiveFault.NoPassword, archive, SevenZipKeys.Of());
    }

    [Theory]
    [InlineData("lzma.7z", "LZMA")]
    [InlineData("lzma2.7z", "LZMA2")]
    [InlineData("bcj.7z", "BCJ")]
    [InlineData("bcj-copy.7z", "BCJ")]
    [InlineData("bcj2.7z", "BCJ2")]
    [InlineData("delta.7z", "Delta")]
    [InlineData("ppmd.7z", "PPMd")]
    [InlineData("deflate.7z", "Deflate")]
    [InlineData("bzip2.7z", "BZip2")]
    [InlineData("encrypted-lzma2.7z", "LZMA2")]
    public async Task Compressed_archive_reports_its_method_without_a_password(string name, string method)
    {
        var map = await ReadAsync(FixtureArchive.Read($"7z/{name}"), SevenZipKeys.Of());

        Assert.Equal(Files, map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => Assert.Contains(method, entry.Method!.Split('+')));
        Assert.All(map.Entries, entry => Assert.Empty(entry.Extents));
        Assert.All(map.Entries, entry => Assert.Equal(FixtureArchive.Source(entry.Path).Length, entry.Length));
    }

    [Fact]
    public async Task Stored_film_among_compressed_files_is_found()
    {
        var archive = FixtureArchive.Read("7z/mixed.7z");
        var map = await ReadAsync(archive, SevenZipKeys.Of());

        var film = Assert.Single(map.Entries, entry => entry.Path == "film.mkv");
        AssertHolds(film, FixtureArchive.Bytes(film, archive));
        Assert.All(map.Entries.Where(entry => entry.Path.StartsWith("Subs/", StringComparison.Ordinal)), entry => Assert.NotNull(entry.Method));
    }

    [Fact]
    public async Task Links_are_skipped_with_a_note()
    {
        var map = await ReadAsync(FixtureArchive.Read("7z/links.7z"), SevenZipKeys.Of());

        Assert.Equal("film.mkv", Assert.Single(map.Entries).Path);
        Assert.Equal("skipped a link: link.mkv", Assert.Single(map.Notes));
    }

    [Theory]
    [InlineData("anti.7z")]
    [InlineData("empty.7z")]
    public async Task Anti_items_and_empty_archives_give_no_entries(string name) =>
        Assert.Empty((await ReadAsync(FixtureArchive.Read($"7z/{name}"), SevenZipKeys.Of())).Entries);

    [Fact]
    public async Task Large_packed_header_costs_only_its_packed_bytes()
    {
        var input = new FixtureInput(FixtureArchive.Read("7z/many.7z"));
        var budget = new ArchiveBudget();
        var map = await SevenZipReader.ReadAsync(input, SevenZipKeys.Of(), budget, Token);

        Assert.Equal(600, map.Entries.Count);
        Assert.Equal("many/episode number 1 of a season that does not end.txt", map.Entries.MinBy(entry => entry.Path.Length)!.Path);
        Assert.Equal(3, input.Reads);
        Assert.Equal(input.BytesRead, budget.Bytes);
        Assert.True(budget.Bytes < 5_000, $"{budget.Bytes} bytes");
        Assert.Equal(602, budget.Steps);
    }

    [Fact]
    public async Task Split_archive_is_incomplete_without_its_last_volume()
    {
        var volumes = Enumerable.Range(1, 3).Select(i => FixtureArchive.Read($"7z/split.7z.00{i}")).ToArray();
        byte[] whole = [.. volumes[0], .. volumes[1], .. volumes[2]];
        var map = await SevenZipReader.ReadAsync(
            new JoinedInput([.. volumes.Select(volume => new FixtureInput(volume))]), SevenZipKeys.Of(), new ArchiveBudget(), Token);

        Assert.Equal(4, map.Entries.Count);
        Assert.All(map.Entries, entry => AssertHolds(entry, FixtureArchive.Bytes(entry, whole)));
        Assert.Equal(whole.Length, SevenZipStart.Read(volumes[0])!.Value.Length);

        await AssertFailsAsync(ArchiveFault.Incomplete, [.. volumes[0], .. volumes[1]], SevenZipKeys.Of());
        // In a wrong order the last bytes are not the header.
        await AssertFailsAsync(ArchiveFault.Broken, [.. volumes[0], .. volumes[2], .. volumes[1]], SevenZipKeys.Of());
    }

    [Theory]
    [InlineData("plain-header.7z")]
    [InlineData("packed-header.7z")]
    [InlineData("hidden.7z")]
    public async Task Truncated_archive_is_broken_or_incomplete(string name)
    {
        var archive = FixtureArchive.Read($"7z/{name}");
        var keys = SevenZipKeys.Of("secret");
        for (var length = 0; length < archive.Length; length++)
            await AssertFailsAsync(length < SevenZipStart.Size ? ArchiveFault.Broken : ArchiveFault.Incomplete, archive[..length], keys);
    }

    [Fact]
    public async Task Trailing_bytes_after_the_archive_are_ignored()
    {
        var archive = FixtureArchive.Read("7z/plain-header.7z");
        Assert.Equal(4, (await ReadAsync([.. archive, 1, 2, 3], SevenZipKeys.Of())).Entries.Count);
    }

    [Fact]
    public async Task Damaged_header_is_broken()
    {
        var archive = FixtureArchive.Read("7z/plain-header.7z");
        for (var at = (int)SevenZipStart.Read(archive)!.Value.HeaderOffset; at < archive.Length; at++)
        {
            var damaged = archive.ToArray();
            damaged[at] ^= 1;
            await AssertFailsAsync(ArchiveFault.Broken, damaged, SevenZipKeys.Of());
        }
    }

    private static Task<ArchiveMap> ReadAsync(byte[] archive, ArchiveKeys keys) =>
        SevenZipReader.ReadAsync(new FixtureInput(archive), keys, new ArchiveBudget(), Token);

    private static async Task AssertFailsAsync(ArchiveFault fault, byte[] archive, ArchiveKeys keys) =>
        Assert.Equal(fault, (await Assert.ThrowsAsync<ArchiveException>(() => ReadAsync(archive, keys))).Fault);

    private static void AssertHolds(ArchiveEntry entry, byte[] bytes)
    {
        Assert.Equal(FixtureArchive.Source(entry.Path), bytes);
        Assert.Equal(entry.Crc32, Crc32Kernel.Append(0, bytes));
    }

    private static void AssertEqualsForeign(ArchiveMap map, IReadOnlyDictionary<string, byte[]> foreign, Func<ArchiveEntry, byte[]> bytes)
    {
        Assert.Equal(foreign.Keys.Order(StringComparer.Ordinal), map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        Assert.All(map.Entries, entry => Assert.Equal(foreign[entry.Path], bytes(entry)));
    }
}
