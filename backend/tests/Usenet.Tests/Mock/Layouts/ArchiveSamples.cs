using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Usenet.Tests.Mock.Layouts;

/// <summary>One small archive of each valid kind that the mock writes.</summary>
internal static class ArchiveSamples
{
    public const string Password = "open-sesame";

    private const ulong Seed = 11;

    private static readonly LayoutEntry[] Tree =
    [
        new("Show/Season 1/e01.mkv", 150_001),
        new("Show/Season 1/e01.srt", 900),
        new("Show/Season 1/empty.txt", 0),
        new("Show/Season 2/e01.mp4", 99_999),
        new("Show/extras", 0) { Kind = EntryKind.Folder },
    ];

    private static readonly ArchiveLayout Rar5 = new() { Format = LayoutFormat.Rar5, Entries = [new("film.mkv", 300_000)], Volumes = 4 };

    private static readonly ArchiveLayout Rar4 = Rar5 with { Format = LayoutFormat.Rar4 };

    private static readonly ArchiveLayout SevenZip = Rar5 with { Format = LayoutFormat.SevenZip };

    private static readonly Dictionary<string, ArchiveLayout> Layouts = new()
    {
        ["rar5"] = Rar5,
        ["rar5 in one volume"] = Rar5 with { Volumes = 1 },
        ["rar5 of 140 volumes"] = Rar5 with { Volumes = 140 },
        ["rar5 under old names"] = Rar5 with { Naming = VolumeNaming.Old },
        ["rar5 by volume size"] = Rar5 with { VolumeSize = 70_000 },
        ["rar5 tree"] = Rar5 with { Entries = Tree },
        ["rar5 solid"] = Rar5 with { Entries = Tree, IsSolid = true },
        ["rar5 with comment, quick open and recovery record"] = Rar5 with { Entries = Tree, Comment = "no comment", HasQuickOpen = true, RecoveryBytes = 5000 },
        ["rar5 with a shifted volume"] = Rar5 with { Volumes = 6, Shifted = (2, 1000) },
        ["rar5 without crc"] = Rar5 with { Entries = [new("film.mkv", 300_000) { Crc = EntryCrc.None }] },
        ["rar5 encrypted"] = Rar5 with { Password = Password },
        ["rar5 encrypted with usual rounds"] = Rar5 with { Password = Password, KeyRoundsLog2 = 15 },
        ["rar5 encrypted without check value"] = Rar5 with { Password = Password, PasswordCheck = PasswordCheck.None },
        ["rar5 encrypted with crc"] = Rar5 with { Password = Password, Entries = [new("film.mkv", 300_001) { Crc = EntryCrc.Right }] },
        ["rar5 encrypted tree"] = Rar5 with { Password = Password, Entries = Tree },
        ["rar5 with encrypted headers"] = Rar5 with { Password = Password, EncryptsHeaders = true },
        ["rar5 tree with encrypted headers"] = Rar5 with { Password = Password, EncryptsHeaders = true, Entries = Tree, Volumes = 1 },
        ["rar4"] = Rar4,
        ["rar4 in one volume"] = Rar4 with { Volumes = 1 },
        ["rar4 under old names"] = Rar4 with { Naming = VolumeNaming.Old, Volumes = 5 },
        ["rar4 without volume numbers"] = Rar4 with { HasVolumeNumbers = false },
        ["rar4 tree"] = Rar4 with { Entries = Tree },
        ["rar4 with comment and recovery record"] = Rar4 with { Comment = "no comment", RecoveryBytes = 5000 },
        ["rar4 encrypted"] = Rar4 with { Password = Password },
        ["rar4 with encrypted headers"] = Rar4 with { Password = Password, EncryptsHeaders = true },
        ["7z"] = SevenZip with { Volumes = 1 },
        ["7z volumes"] = SevenZip,
        ["7z tree"] = SevenZip with { Entries = Tree, Volumes = 1 },
        ["7z tree in one folder"] = SevenZip with { Entries = [.. Tree.SkipLast(1)], SharesFolder = true },
        ["7z with packed header"] = SevenZip with { Entries = Tree, PacksHeader = true },
        ["7z encrypted"] = SevenZip with { Password = Password },
        ["7z encrypted tree in one folder"] = SevenZip with { Password = Password, Entries = [.. Tree.SkipLast(1)], SharesFolder = true },
        ["7z encrypted with crc"] = SevenZip with { Password = Password, Entries = [new("film.mkv", 300_001) { Crc = EntryCrc.Right }] },
        ["7z with encrypted header"] = SevenZip with { Password = Password, EncryptsHeaders = true },
        ["7z with packed and encrypted header"] = SevenZip with { Password = Password, EncryptsHeaders = true, PacksHeader = true, Entries = Tree },
        ["zip"] = Rar5 with { Format = LayoutFormat.Zip, Volumes = 1, Entries = Tree },
        ["zip64"] = Rar5 with { Format = LayoutFormat.Zip, Volumes = 1, ForcesZip64 = true },
        ["split zip"] = Rar5 with { Format = LayoutFormat.Zip },
        ["tar"] = Rar5 with { Format = LayoutFormat.Tar, Volumes = 1, Entries = Tree },
        ["split"] = Rar5 with { Format = LayoutFormat.Split },
    };

    public static IEnumerable<string> Names => Layouts.Keys;

    public static ArchiveLayout Layout(string name) => Layouts[name];

    public static MockArchive Make(string name) => Layouts[name].Make(Seed);
}
