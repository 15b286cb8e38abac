using SharpCompress.Archives.Rar;
using SharpCompress.Readers;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Archives written by rar itself, read by the engine and by another reader.</summary>
public sealed class RarForeignTests
{
    private const string LongPassword = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    /// <summary>Each set with its password, number of volumes and files.</summary>
    public static TheoryData<string, string?, int, string[]> Sets => new()
    {
        { "rar4", null, 5, ["film.mkv"] },
        { "rar4-old-names", null, 5, ["film.mkv"] },
        { "rar4-p", "secret", 5, ["film.mkv"] },
        { "rar4-hp", "secret", 5, ["film.mkv"] },
        { "rar4-hp-long", LongPassword, 1, ["easy.srt"] },
        { "rar4-season", null, 7, ["season/one.mkv", "season/three.mkv", "season/two.mkv", "season/vier – Ü.mkv"] },
        { "rar4-tree", null, 1, ["tree/folder/film.mkv", "tree/folder/notes-again.txt", "tree/notes.txt", "tree/same.mkv"] },
        { "rar5", null, 5, ["film.mkv"] },
        { "rar5-p", "secret", 5, ["film.mkv"] },
        { "rar5-hp", "secret", 5, ["film.mkv"] },
        { "rar5-p-blake", "secret", 5, ["film.mkv"] },
        { "rar5-season", null, 7, ["season/one.mkv", "season/three.mkv", "season/two.mkv", "season/vier – Ü.mkv"] },
        { "rar5-season-hp", "secret", 7, ["season/one.mkv", "season/three.mkv", "season/two.mkv", "season/vier – Ü.mkv"] },
        { "rar5-tree", null, 1, ["tree/notes.txt", "tree/same.mkv"] },
        { "rar5-rr", null, 5, ["film.mkv"] },
        { "rar5-130-volumes", null, 158, ["long.mkv"] },
        { "rar5-130-volumes-hp", "secret", 209, ["long.mkv"] },
    };

    [Theory]
    [MemberData(nameof(Sets))]
    public async Task Files_of_real_RAR_sets_read_back_byte_for_byte(string name, string? password, int volumeCount, string[] files)
    {
        var volumes = RarFixture.Volumes(name);
        var map = await Map(volumes, password);

        Assert.Equal(volumeCount, volumes.Count);
        Assert.Equal(files, map.Entries.Select(entry => entry.Path).Order(StringComparer.Ordinal));
        foreach (var entry in map.Entries)
        {
            Assert.Null(entry.Method);
            Assert.Equal(RarFixture.HashOf(entry.Path), RarFixture.HashOf(volumes, entry));
            if (entry.Crc32 is { } crc)
                Assert.Equal(crc, Crc32Kernel.Append(0, RarFixture.Extract(volumes, entry)));
        }
    }

    [Theory]
    [MemberData(nameof(Sets))]
    public async Task SharpCompress_finds_the_same_files(string name, string? password, int volumeCount, string[] files)
    {
        // SharpCompress does not truncate long passwords as RAR 4 does, and it derives the key of each header again, which takes long.
        if (password == LongPassword || (password is not null && volumeCount > 100))
            return;

        var volumes = RarFixture.Volumes(name);
        var map = await Map(volumes, password);
        using var other = RarArchive.OpenArchive(
            [.. volumes.Select(bytes => new MemoryStream(bytes))], ReaderOptions.ForExternalStream with { Password = password });
        var found = other.Entries.Where(entry => entry is { IsDirectory: false, Size: > 0 }).ToDictionary(entry => entry.Key!.Replace('\\', '/'));

        Assert.Equal(volumeCount, other.Volumes.Count());
        foreach (var path in files)
        {
            var entry = map.Entries.Single(entry => entry.Path == path);
            Assert.Equal(found[path].Size, entry.Length);
            if (entry.Crc32 is { } crc)
                Assert.Equal((uint)found[path].Crc, crc);
        }
    }

    [Theory]
    [InlineData("rar4")]
    [InlineData("rar5")]
    public async Task Part_checksums_prove_the_volume_order(string name)
    {
        var volumes = RarFixture.Volumes(name);
        var parts = (await RarRead.Volumes(volumes)).Select(volume => volume.Head!).ToList();
        var last = Crc32Kernel.Append(0, volumes[^1].AsSpan((int)parts[^1].DataOffset, (int)parts[^1].DataLength));

        Assert.True(RarSet.IsOrderProved(parts, last));
        (parts[1], parts[2]) = (parts[2], parts[1]);
        Assert.False(RarSet.IsOrderProved(parts, last));
    }

    [Theory]
    [MemberData(nameof(Sets))]
    public async Task Shuffled_volumes_are_sorted_by_their_headers(string name, string? password, int volumeCount, string[] files)
    {
        var volumes = RarFixture.Volumes(name).ToArray();
        new Random(volumeCount).Shuffle(volumes);
        var passwords = Passwords(password);
        var read = await RarRead.Volumes(volumes, passwords);
        var set = Assert.Single(RarChain.Sort(read));

        Assert.Equal(files.Length, RarSet.Join([.. set.Select(index => read[index])], passwords).Entries.Count);
    }

    [Fact]
    public async Task Main_header_flags_and_number_are_read()
    {
        var season = (await RarRead.Volumes(RarFixture.Volumes("rar4-season")))[1];
        Assert.True(season is { HasNewNames: true, IsVolume: true, IsFirst: false, Number: 1 });
        Assert.True((await RarRead.Volumes(RarFixture.Volumes("rar4-old-names")))[0] is { HasNewNames: false, IsFirst: true, Number: 0 });
        Assert.True((await RarRead.Volumes(RarFixture.Volumes("rar5-season")))[0] is { HasNewNames: true, IsFirst: true, Number: 0 });
        Assert.True((await RarRead.Volumes(RarFixture.Volumes("rar5-tree")))[0] is { IsLocked: true, HasRecovery: true, IsVolume: false, Number: null });
        Assert.True((await RarRead.Volumes(RarFixture.Volumes("rar4-tree")))[0] is { HasRecovery: true, IsVolume: false });
    }

    [Theory]
    [InlineData("rar4-m3")]
    [InlineData("rar5-m3")]
    public async Task Compressed_file_reports_its_method(string name)
    {
        var entry = Assert.Single((await Map(RarFixture.Volumes(name), password: null)).Entries);
        Assert.Equal("m3", entry.Method);
    }

    [Theory]
    [InlineData("rar4-tree", "tree/link.mkv")]
    [InlineData("rar5-tree", "tree/folder/notes-again.txt", "tree/folder/film.mkv", "tree/link.mkv")]
    public async Task Links_and_copies_are_noted(string name, params string[] links) =>
        Assert.Equal(links.Select(link => $"The link {link} is left out."), (await Map(RarFixture.Volumes(name), password: null)).Notes);

    [Theory]
    [InlineData("rar4-hp")]
    [InlineData("rar5-hp")]
    [InlineData("rar5-p")]
    [InlineData("rar5-p-blake")]
    public async Task Wrong_or_missing_password_opens_nothing(string name)
    {
        var volumes = RarFixture.Volumes(name);
        Assert.Equal(ArchiveFault.WrongPassword, await RarRead.FaultOf(() => Map(volumes, "other")));
        Assert.Equal(ArchiveFault.NoPassword, await RarRead.FaultOf(() => Map(volumes, password: null)));
    }

    [Fact]
    public async Task Unverifiable_password_is_left_to_the_caller()
    {
        var volumes = RarFixture.Volumes("rar4-p");
        var read = await RarRead.Volumes(volumes);
        var part = read[0].Head!;
        var passwords = RarRead.Real("other", "secret");

        Assert.Null(passwords.Decide(part.Encryption!));
        var fitting = passwords.Candidates.Where(password =>
        {
            using var aes = System.Security.Cryptography.Aes.Create();
            var cipher = passwords.CipherOf(part.Encryption!, password);
            aes.SetKey(cipher.Key.Span);
            var block = aes.DecryptCbc(volumes[0].AsSpan((int)part.DataOffset, 16), cipher.Iv.Span, System.Security.Cryptography.PaddingMode.None);
            return block.AsSpan().StartsWith((byte[])[0x1A, 0x45, 0xDF, 0xA3]);
        });
        passwords.Settle(Assert.Single(fitting));
        Assert.Equal(RarFixture.HashOf("film.mkv"), RarFixture.HashOf(volumes, RarSet.Join(read, passwords).Entries[0]));
    }

    private static async Task<ArchiveMap> Map(IReadOnlyList<byte[]> volumes, string? password)
    {
        var passwords = Passwords(password);
        return RarSet.Join(await RarRead.Volumes(volumes, passwords), passwords);
    }

    /// <summary>Accepts a single password without a check, because the test compares the bytes.</summary>
    private static RarPasswords Passwords(string? password) => password is null ? RarRead.Real() : Settled(RarRead.Real(password));

    private static RarPasswords Settled(RarPasswords passwords)
    {
        passwords.Settle(passwords.Candidates[0]);
        return passwords;
    }
}
