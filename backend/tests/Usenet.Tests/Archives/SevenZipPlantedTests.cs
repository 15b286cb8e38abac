using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Valid archives that the usual programs do not write, and malicious ones.</summary>
public sealed class SevenZipPlantedTests
{
    private static readonly (string Name, byte[] Bytes)[] Files =
        [.. new[] { 5, 20, 16, 1, 300, 3, 33, 15, 64 }.Select((length, i) => ($"folder\\file {i}.mkv", FixtureArchive.Noise(length)))];

    private static readonly byte[] Text = [.. Files.SelectMany(file => file.Bytes)];

    private static readonly byte[] Iv = FixtureArchive.Noise(16);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Stored_solid_block_gives_each_file()
    {
        var archive = SevenZipWriter.OneText(Files, Text, SevenZipWriter.Copy);
        var map = await ReadAsync(archive);

        Assert.Equal(Files.Select(file => file.Name.Replace('\\', '/')), map.Entries.Select(entry => entry.Path));
        Assert.Equal(Files.Select(file => file.Bytes), map.Entries.Select(entry => FixtureArchive.Bytes(entry, archive)));
        Assert.Equal(Files.Select(file => file.Bytes), FixtureArchive.Foreign(archive).Values);
    }

    [Fact]
    public async Task Encrypted_solid_block_gives_each_file_from_mid_block()
    {
        var keys = SevenZipKeys.Of("secret");
        var key = keys.Get(new KeyRequest(KeyScheme.SevenZip, "secret", "", 0)).Key.ToArray();
        var packed = SevenZipWriter.Encrypt(Text, key, Iv);
        foreach (var coders in (byte[][][])[[SevenZipWriter.Aes(Iv)], [SevenZipWriter.Copy, SevenZipWriter.Aes(Iv)]])
        {
            var archive = SevenZipWriter.OneText(Files, packed, coders);
            var map = await ReadAsync(archive, keys);

            Assert.Equal(Files.Select(file => file.Bytes), map.Entries.Select(entry => FixtureArchive.Bytes(entry, archive, Assert.Single(entry.Candidates))));
            Assert.Equal(Files.Select(file => file.Bytes), FixtureArchive.Foreign(archive, "secret").Values);
            foreach (var entry in map.Entries)
            {
                var cipher = entry.Candidates[0];
                Assert.InRange(cipher.Skip, 0, 31);
                Assert.Equal((cipher.Skip + entry.Length + 15) / 16 * 16, entry.Extents.Sum(extent => extent.Length));
            }
        }
    }

    [Fact]
    public async Task Packed_header_nested_more_than_four_deep_is_unsupported()
    {
        var (data, header) = (Text, HeaderOf(SevenZipWriter.OneText(Files, Text, SevenZipWriter.Copy)));
        for (var packings = 1; packings <= 5; packings++)
        {
            var at = data.Length;
            data = [.. data, .. header];
            header = SevenZipWriter.EncodedHeader(at, header.Length, header.Length, header, SevenZipWriter.Copy);
            if (packings <= 4)
                Assert.Equal(Files.Length, (await ReadAsync(SevenZipWriter.Close(data, header))).Entries.Count);
        }

        await AssertFailsAsync(ArchiveFault.Unsupported, SevenZipWriter.Close(data, header));
    }

    [Fact]
    public async Task Lzma2_header_with_a_4_GiB_dictionary_allocates_little()
    {
        var header = HeaderOf(SevenZipWriter.OneText(Files, Text, SevenZipWriter.Copy));
        // One uncompressed chunk; the dictionary is declared as 4 GiB - 1.
        byte[] packed = [0x01, (byte)((header.Length - 1) >> 8), (byte)(header.Length - 1), .. header, 0x00];
        var archive = SevenZipWriter.Close(
            [.. Text, .. packed], SevenZipWriter.EncodedHeader(Text.Length, packed.Length, header.Length, header, [0x21, 0x21, 1, 40]));

        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(Files.Length, (await ReadAsync(archive)).Entries.Count);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
    }

    [Fact]
    public async Task Lzma_header_with_a_huge_dictionary_allocates_little()
    {
        var archive = FixtureArchive.Read("7z/packed-header.7z");
        var header = archive.AsSpan((int)SevenZipStart.Read(archive)!.Value.HeaderOffset);
        var properties = header.IndexOf((ReadOnlySpan<byte>)[0x03, 0x01, 0x01, 0x05, 0x5D]) + 5;
        header.Slice(properties, 4).Fill(0xFF);
        SevenZipWriter.Reseal(archive);

        var before = GC.GetAllocatedBytesForCurrentThread();
        Assert.Equal(4, (await ReadAsync(archive)).Entries.Count);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
    }

    [Theory]
    [InlineData(65L << 20, ArchiveFault.Unsupported)]
    [InlineData(long.MaxValue, ArchiveFault.Unsupported)]
    [InlineData(60L << 20, ArchiveFault.Broken)]
    public async Task Claimed_sizes_of_a_packed_header_allocate_little(long length, ArchiveFault fault)
    {
        byte[] packed = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        foreach (var coder in (byte[][])[[0x23, 0x03, 0x01, 0x01, 5, 0x5D, 0xFF, 0xFF, 0xFF, 0xFF], [0x21, 0x21, 1, 40], SevenZipWriter.Copy])
        {
            var archive = SevenZipWriter.Close(packed, SevenZipWriter.EncodedHeader(0, packed.Length, length, packed, coder));
            var before = GC.GetAllocatedBytesForCurrentThread();
            await AssertFailsAsync(fault, archive);
            Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
        }
    }

    [Fact]
    public async Task Unverifiable_header_refuses_any_password()
    {
        var header = new byte[32];
        var archive = SevenZipWriter.Close(header, SevenZipWriter.EncodedHeader(0, 32, 32, plain: null, SevenZipWriter.Aes(Iv)));
        await AssertFailsAsync(ArchiveFault.Unsupported, archive, SevenZipKeys.Of("secret"));
    }

    [Fact]
    public async Task Key_with_too_many_rounds_is_refused()
    {
        var archive = SevenZipWriter.OneText(Files, SevenZipWriter.Encrypt(Text, new byte[32], Iv), SevenZipWriter.Aes(Iv, rounds: 21));
        await AssertFailsAsync(ArchiveFault.Unsupported, archive, SevenZipKeys.Of("secret"));
    }

    [Theory]
    [InlineData(10_000, null)]
    [InlineData(10_001, ArchiveFault.Unsupported)]
    public async Task File_count_above_the_header_limit_is_refused(int count, ArchiveFault? fault)
    {
        // All files are empty, so no stream is needed.
        byte[] empty = [0x0E, .. SevenZipWriter.Number((count + 7) / 8), .. Enumerable.Repeat((byte)0xFF, (count + 7) / 8)];
        byte[] header = [0x01, 0x05, .. SevenZipWriter.Number(count), .. empty, 0x00, 0x00];
        var archive = SevenZipWriter.Close([], header);
        if (fault is { } expected)
            await AssertFailsAsync(expected, archive);
        else
            Assert.Empty((await ReadAsync(archive)).Entries);
    }

    [Fact]
    public async Task Header_longer_than_the_budget_is_refused() =>
        await AssertFailsAsync(ArchiveFault.Unsupported, SevenZipWriter.Close([], new byte[(1 << 20) + 1]));

    [Fact]
    public async Task Stored_data_longer_or_shorter_than_its_files_is_broken()
    {
        await AssertFailsAsync(ArchiveFault.Broken, SevenZipWriter.OneText(Files, [.. Text, 0], SevenZipWriter.Copy));
        await AssertFailsAsync(ArchiveFault.Broken, SevenZipWriter.OneText(Files, Text[..^1], SevenZipWriter.Copy));
        await AssertFailsAsync(ArchiveFault.Broken, SevenZipWriter.OneText(Files, new byte[(Text.Length / 16) * 16], SevenZipWriter.Aes(Iv)), SevenZipKeys.Of("secret"));
    }

    [Fact]
    public void Truncated_header_is_broken_at_every_length()
    {
        var header = HeaderOf(SevenZipWriter.OneText(Files, Text, SevenZipWriter.Copy))[1..];
        for (var length = 0; length < header.Length; length++)
        {
            var cut = new SevenZipCursor(header.AsMemory(0, length));
            Assert.Equal(ArchiveFault.Broken, Assert.Throws<ArchiveException>(() => SevenZipHeader.Read(cut, long.MaxValue, new ArchiveBudget())).Fault);
        }

        Assert.Equal(Files.Length, SevenZipHeader.Read(new SevenZipCursor(header), 1 << 20, new ArchiveBudget()).Items.Count);
    }

    [Theory]
    [InlineData(new byte[] { 0x00 }, 0)]
    [InlineData(new byte[] { 0x7F }, 0x7F)]
    [InlineData(new byte[] { 0x80, 0x80 }, 0x80)]
    [InlineData(new byte[] { 0xBF, 0xFF }, 0x3FFF)]
    [InlineData(new byte[] { 0xC0, 0x34, 0x12 }, 0x1234)]
    [InlineData(new byte[] { 0xFE, 1, 2, 3, 4, 5, 6, 7 }, 0x07060504030201)]
    [InlineData(new byte[] { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F }, long.MaxValue)]
    public void Number_is_read_whole_and_rejected_if_truncated(byte[] bytes, long number)
    {
        Assert.Equal(number, new SevenZipCursor(bytes).ReadNumber());
        for (var length = 0; length < bytes.Length; length++)
        {
            var cut = new SevenZipCursor(bytes.AsMemory(0, length));
            Assert.Throws<ArchiveException>(() => cut.ReadNumber());
        }
    }

    [Fact]
    public void Number_above_the_maximum_is_broken() =>
        Assert.Throws<ArchiveException>(() => new SevenZipCursor(Enumerable.Repeat((byte)0xFF, 9).ToArray()).ReadNumber());

    private static byte[] HeaderOf(byte[] archive) => archive[(int)SevenZipStart.Read(archive)!.Value.HeaderOffset..];

    private static Task<ArchiveMap> ReadAsync(byte[] archive, ArchiveKeys? keys = null) =>
        SevenZipReader.ReadAsync(new FixtureInput(archive), keys ?? SevenZipKeys.Of(), new ArchiveBudget(), Token);

    private static async Task AssertFailsAsync(ArchiveFault fault, byte[] archive, ArchiveKeys? keys = null) =>
        Assert.Equal(fault, (await Assert.ThrowsAsync<ArchiveException>(() => ReadAsync(archive, keys))).Fault);
}
