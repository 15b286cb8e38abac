using Sluice.Usenet.Archives;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Volumes join into files, or are refused.</summary>
public sealed class RarSetTests
{
    private static readonly (string, int)[] Season = [("one.mkv", 250), ("two.mkv", 420), ("three.mkv", 135), ("four.mkv", 90)];

    public static TheoryData<ArchiveFormat, bool> Formats => new() { { ArchiveFormat.Rar4, false }, { ArchiveFormat.Rar4, true }, { ArchiveFormat.Rar5, true } };

    [Theory]
    [MemberData(nameof(Formats))]
    public void Files_are_joined_over_all_volumes(ArchiveFormat format, bool hasNumbers)
    {
        var map = RarSet.Join(RarSets.Of(format, 100, hasNumbers, Season), RarRead.NoPasswords);

        Assert.Equal(format, map.Format);
        Assert.Equal(Season, map.Entries.Select(entry => (entry.Path, (int)entry.Length)));
        foreach (var entry in map.Entries)
        {
            Assert.Equal(entry.Length, entry.Extents.Sum(extent => extent.Length));
            Assert.Equal([.. Enumerable.Range(entry.Extents[0].Volume, entry.Extents.Count)], entry.Extents.Select(extent => extent.Volume));
        }

        Assert.Equal([new ArchiveExtent(2, 150, 50), new(3, 100, 100), new(4, 100, 100), new(5, 100, 100), new(6, 100, 70)], map.Entries[1].Extents);
        // The header of a file's last part has the checksum of the whole file.
        Assert.Equal((7u * 350) + 1, map.Entries[1].Crc32);
    }

    [Theory]
    [MemberData(nameof(Formats))]
    public void Missing_volume_makes_the_set_incomplete(ArchiveFormat format, bool hasNumbers)
    {
        var volumes = RarSets.Of(format, 100, hasNumbers, Season);
        for (var missing = 0; missing < volumes.Count; missing++)
            Assert.Equal((missing, ArchiveFault.Incomplete), (missing, RarRead.FaultOf([.. volumes.Where((_, index) => index != missing)])));
    }

    [Theory]
    [MemberData(nameof(Formats))]
    public void Missing_run_of_volumes_makes_the_set_incomplete(ArchiveFormat format, bool hasNumbers)
    {
        var volumes = RarSets.Of(format, 100, hasNumbers, Season);
        for (var first = 0; first < volumes.Count; first++)
        {
            for (var behind = first + 1; behind <= volumes.Count - (first == 0 ? 1 : 0); behind++)
            {
                List<RarVolume> rest = [.. volumes.Where((_, index) => index < first || index >= behind)];
                Assert.Equal((first, behind, ArchiveFault.Incomplete), (first, behind, RarRead.FaultOf(rest)));
            }
        }
    }

    [Theory]
    [MemberData(nameof(Formats))]
    public void Swapped_volumes_break_the_set_if_their_headers_differ(ArchiveFormat format, bool hasNumbers)
    {
        var volumes = RarSets.Of(format, 100, hasNumbers, Season);
        for (var a = 0; a < volumes.Count; a++)
        {
            for (var b = a + 1; b < volumes.Count; b++)
            {
                var order = Enumerable.Range(0, volumes.Count).ToArray();
                (order[a], order[b]) = (b, a);
                // Without numbers, two volumes with only the middle of one file look alike; only their checksums reveal a swap.
                if (!hasNumbers && volumes[a].Head!.Identity == volumes[b].Head!.Identity && volumes[a].Head!.IsSplitBefore
                    && volumes[a].Tail?.Identity == volumes[b].Tail?.Identity && volumes[b].Tail?.Identity == volumes[b].Head!.Identity)
                    continue;
                Assert.Equal((a, b, ArchiveFault.Broken), (a, b, RarRead.FaultOf(volumes.Pick(order))));
            }
        }
    }

    [Fact]
    public void Volumes_in_reverse_order_break_the_set()
    {
        foreach (var hasNumbers in new[] { false, true })
        {
            var volumes = RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers, Season);
            volumes.Reverse();
            Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf(volumes));
        }
    }

    [Fact]
    public void Repeated_volume_counts_once()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, Season);
        var once = RarSet.Join(volumes, RarRead.NoPasswords);
        var twice = RarSet.Join(volumes.Pick(0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 8), RarRead.NoPasswords);

        Assert.Equal(once.Entries.Select(entry => (entry.Path, entry.Extents.Count)), twice.Entries.Select(entry => (entry.Path, entry.Extents.Count)));
        Assert.Equal(5, twice.Entries[1].Extents[1].Volume);
    }

    [Fact]
    public void Repeated_number_with_other_content_breaks_the_set()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, Season);
        volumes.Insert(3, volumes[2] with { Length = volumes[2].Length + 1 });
        Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf(volumes));
    }

    [Fact]
    public void Volume_after_the_last_one_breaks_the_set()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: false, ("one.mkv", 250));
        volumes.AddRange(RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: false, ("two.mkv", 250)));
        Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf(volumes));
    }

    [Fact]
    public void Mixed_RAR4_and_RAR5_volumes_break_the_set()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: false, ("one.mkv", 250));
        volumes[1] = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 250))[1];
        Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf(volumes));
    }

    [Theory]
    [InlineData(99)]
    [InlineData(101)]
    public void Stored_file_with_a_wrong_data_length_breaks_the_set(int dataLength)
    {
        var volume = RarSets.Of(ArchiveFormat.Rar5, 500, hasNumbers: true, ("one.mkv", 100))[0];
        Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf([volume with { Parts = [volume.Parts[0] with { DataLength = dataLength }] }]));
    }

    [Fact]
    public void A_compressed_file_keeps_its_method_and_needs_no_password()
    {
        var volume = RarSets.Of(ArchiveFormat.Rar5, 500, hasNumbers: true, ("one.mkv", 100))[0];
        var part = volume.Parts[0] with { Method = "m3", DataLength = 7, Encryption = new RarEncryption(KeyScheme.Rar5, "00", 4) };
        var entry = Assert.Single(RarSet.Join([volume with { Parts = [part] }], RarRead.NoPasswords).Entries);

        Assert.Equal(("m3", 100L), (entry.Method, entry.Length));
        Assert.Null(entry.Cipher);
    }

    [Fact]
    public void Folders_links_and_empty_files_are_not_entries()
    {
        var volume = RarSets.Of(ArchiveFormat.Rar4, 500, hasNumbers: false, ("one.mkv", 100))[0];
        RarPart Other(string name, RarPartKind kind, int length) => RarSets.Part(ArchiveFormat.Rar4, name, length, length) with { Kind = kind };
        var map = RarSet.Join(
            [volume with { Parts = [Other("folder", RarPartKind.Folder, 0), Other("link.mkv", RarPartKind.Link, 9), volume.Parts[0], Other("empty", RarPartKind.File, 0)] }],
            RarRead.NoPasswords);

        Assert.Equal("one.mkv", Assert.Single(map.Entries).Path);
        Assert.Equal("The link link.mkv is left out.", Assert.Single(map.Notes));
    }

    [Fact]
    public void Volume_heads_join_only_with_a_complete_last_volume()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 450));
        List<RarVolume> heads = [.. volumes.SkipLast(1).Select(RarSets.HeadOf), volumes[^1]];

        Assert.Equal(450, Assert.Single(RarSet.Join(heads, RarRead.NoPasswords).Entries).Length);
        Assert.Throws<ArgumentException>(() => RarSet.Join([.. heads.SkipLast(1), RarSets.HeadOf(volumes[^1])], RarRead.NoPasswords));
    }

    [Theory]
    [InlineData(96, 96, true)]
    [InlineData(100, 112, true)]
    [InlineData(100, 100, false)]
    [InlineData(100, 128, false)]
    public void Encrypted_data_must_end_with_a_whole_block(int length, int dataLength, bool isRight)
    {
        var volume = RarSets.Of(ArchiveFormat.Rar4, 500, hasNumbers: false, ("one.mkv", length))[0];
        volume = volume with { Parts = [volume.Parts[0] with { DataLength = dataLength, Encryption = new RarEncryption(KeyScheme.Rar4, "00", 0) }] };
        var passwords = RarRead.With("secret");
        passwords.Settle("secret");
        if (isRight)
            Assert.NotNull(Assert.Single(RarSet.Join([volume], passwords).Entries).Cipher);
        else
            Assert.Equal(ArchiveFault.Broken, RarRead.FaultOf([volume], passwords));
    }

    [Fact]
    public void Unverifiable_password_is_unsupported_until_settled()
    {
        var encryption = new RarEncryption(KeyScheme.Rar4, "00", 0);
        var volume = RarSets.Of(ArchiveFormat.Rar4, 500, hasNumbers: false, ("one.mkv", 96))[0];
        volume = volume with { Parts = [volume.Parts[0] with { Encryption = encryption }] };
        var passwords = RarRead.With("one", "two");

        Assert.Null(passwords.Decide(encryption));
        Assert.Equal(ArchiveFault.Unsupported, RarRead.FaultOf([volume], passwords));
        passwords.Settle("two");
        Assert.Equal(passwords.CipherOf(encryption, "two").Key.ToArray(), RarSet.Join([volume], passwords).Entries[0].Cipher!.Key.ToArray());
        Assert.Equal(ArchiveFault.NoPassword, RarRead.FaultOf([volume]));
    }

    [Fact]
    public void Check_value_picks_the_password_per_file()
    {
        var deriver = new FreeKeyDeriver();
        var salt = Convert.ToHexString(Rar5Writer.Salt);
        RarEncryption For(string password) => new(KeyScheme.Rar5, salt, 4)
        {
            Iv = Rar5Writer.Iv,
            Check = deriver.Derive(new KeyRequest(KeyScheme.Rar5, password, salt, 4)).Check,
        };
        var passwords = RarRead.With("one", "two");

        Assert.Equal("two", passwords.Decide(For("two")));
        Assert.Equal("one", passwords.Decide(For("one")));
        Assert.Equal(Rar5Writer.Iv, passwords.CipherOf(For("one"), "one").Iv.ToArray());
        Assert.Equal(ArchiveFault.WrongPassword, Assert.Throws<ArchiveException>(() => passwords.Decide(For("three"))).Fault);
    }

    [Fact]
    public void Checksums_prove_the_order_of_parts()
    {
        var data = TestArticle.Noise(1000);
        var parts = Enumerable.Range(0, 4).Select(i => RarSets.Part(ArchiveFormat.Rar4, "film.mkv", 1000, 250, i > 0, i < 3) with
        {
            Crc32 = YencReference.Crc(i < 3 ? data.AsSpan(250 * i, 250) : data),
        }).ToList();
        var last = YencReference.Crc(data.AsSpan(750));

        Assert.True(RarSet.IsOrderProved(parts, last));
        Assert.False(RarSet.IsOrderProved([parts[0], parts[2], parts[1], parts[3]], last));
        Assert.False(RarSet.IsOrderProved(parts, last + 1));
        Assert.False(RarSet.IsOrderProved([parts[0], parts[1] with { Crc32 = null }, parts[2], parts[3]], last));
        Assert.False(RarSet.IsOrderProved([], last));
    }
}
