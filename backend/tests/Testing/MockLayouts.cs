using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Testing;

/// <summary>Small releases of every layout that can be streamed, by name.</summary>
public static class MockLayouts
{
    private const int ArticleSize = 20_000;
    private const string Password = "open-sesame";

    private static readonly LayoutEntry[] Season = [new("S01/show.s01e01.mkv", 210_000), new("S01/show.s01e02.mkv", 190_001), new("S02/show.s02e01.mkv", 200_077), new("show.nfo", 700)];

    private static readonly Dictionary<string, Func<string, MockRelease>> All = new(StringComparer.Ordinal)
    {
        ["plain"] = name => Builder(name).AddFile("film.mkv", 700_000).AddFile("film.nfo", 900).Build(),
        ["rar5"] = name => Builder(name).AddArchive(Rar5(12)).Build(),
        ["rar5-one-volume"] = name => Builder(name).AddArchive(Rar5(1)).Build(),
        ["rar5-old-names"] = name => Builder(name).AddArchive(Rar5(12) with { Naming = VolumeNaming.Old }).Build(),
        ["rar5-numbers"] = name => Builder(name).AddArchive(Rar5(12) with { Naming = VolumeNaming.Numbers }).Build(),
        ["rar5-random"] = name => Builder(name).Subjects(SubjectStyle.Opaque).AddArchive(Rar5(12) with { Naming = VolumeNaming.Random }).Shuffle().Build(),
        ["rar5-shared-subject"] = name => Builder(name).Subjects(SubjectStyle.Shared).AddArchive(Rar5(12) with { Naming = VolumeNaming.Random }).Shuffle().Build(),
        ["rar5-140-volumes"] = name => Builder(name).AddArchive(Rar5(140, 1_400_000)).Build(),
        ["rar5-extras"] = name => Builder(name).AddArchive(Rar5(9) with { Comment = "made here", HasQuickOpen = true, RecoveryBytes = 500 }).Build(),
        ["rar5-encrypted"] = name => Builder(name).Password(Password).AddArchive(Rar5(9) with { Password = Password }).Build(),
        ["rar5-encrypted-unchecked"] = name => Builder(name).Password(Password).AddArchive(Rar5(9) with { Password = Password, PasswordCheck = PasswordCheck.None }).Build(),
        ["rar5-encrypted-wrong-check"] = name => Builder(name).Password(Password).AddArchive(Rar5(9) with { Password = Password, PasswordCheck = PasswordCheck.Damaged }).Build(),
        ["rar5-headers"] = name => Builder(name).Password(Password).AddArchive(Rar5(9) with { Password = Password, EncryptsHeaders = true }).Build(),
        ["rar5-headers-random"] = name => Builder(name).Password(Password).Subjects(SubjectStyle.Opaque)
            .AddArchive(Rar5(9) with { Password = Password, EncryptsHeaders = true, Naming = VolumeNaming.Random }).Shuffle().Build(),
        ["rar5-several"] = name => Builder(name).AddArchive(Rar5(9) with { Entries = Season }).Build(),
        ["rar5-several-random"] = name => Builder(name).AddArchive(Rar5(9) with { Entries = Season, Naming = VolumeNaming.Random }).Obfuscate().Shuffle().Build(),
        ["rar4"] = name => Builder(name).AddArchive(Rar4(10)).Build(),
        ["rar4-random"] = name => Builder(name).AddArchive(Rar4(10) with { Naming = VolumeNaming.Random }).Shuffle().Build(),
        ["rar4-no-numbers-counted"] = name => Builder(name).Subjects(SubjectStyle.Counted)
            .AddArchive(Rar4(6) with { Naming = VolumeNaming.Random, HasVolumeNumbers = false }).Shuffle().Build(),
        ["rar4-no-numbers-par2"] = name => Builder(name, 2 * ArticleSize).Obfuscate()
            .AddArchive(Rar4(6, 900_000) with { HasVolumeNumbers = false }).AddPar2(0).Shuffle().Build(),
        ["rar4-encrypted"] = name => Builder(name).Password(Password).AddArchive(Rar4(6) with { Password = Password }).Build(),
        ["rar4-headers"] = name => Builder(name).Password(Password).AddArchive(Rar4(6) with { Password = Password, EncryptsHeaders = true }).Build(),
        ["7z"] = name => Builder(name).AddArchive(SevenZip(8)).Build(),
        ["7z-one-volume"] = name => Builder(name).AddArchive(SevenZip(1)).Build(),
        ["7z-random"] = name => Builder(name).AddArchive(SevenZip(8) with { Naming = VolumeNaming.Random }).Build(),
        ["7z-packed-header"] = name => Builder(name).AddArchive(SevenZip(8) with { PacksHeader = true }).Build(),
        ["7z-encrypted"] = name => Builder(name).Password(Password).AddArchive(SevenZip(8) with { Password = Password }).Build(),
        ["7z-headers"] = name => Builder(name).Password(Password).AddArchive(SevenZip(8) with { Password = Password, EncryptsHeaders = true }).Build(),
        ["7z-several-encrypted"] = name => Builder(name).Password(Password)
            .AddArchive(SevenZip(8) with { Entries = Season, SharesFolder = true, Password = Password, EncryptsHeaders = true }).Build(),
        ["zip"] = name => Builder(name).AddArchive(Layout(LayoutFormat.Zip, 1, 600_000)).Build(),
        ["zip-split"] = name => Builder(name).AddArchive(Layout(LayoutFormat.Zip, 5, 600_000)).Build(),
        ["tar"] = name => Builder(name).AddArchive(Layout(LayoutFormat.Tar, 1, 600_000)).Build(),
        ["split"] = name => Builder(name).AddArchive(Layout(LayoutFormat.Split, 6, 600_000) with { Entries = [new("film.mkv", 600_000)] }).Build(),
        ["rar-in-rar"] = name => Nested(name, Rar5(4), Rar5(7)),
        ["split-in-rar"] = name => Nested(name, Layout(LayoutFormat.Split, 4, 600_000) with { Entries = [new("film.mkv", 600_000)] }, Rar5(7)),
        ["zip-in-rar"] = name => Nested(name, Layout(LayoutFormat.Zip, 1, 600_000), Rar5(7)),
        ["tar-in-rar"] = name => Nested(name, Layout(LayoutFormat.Tar, 1, 600_000), Rar4(7)),
        ["rar-in-7z"] = name => Nested(name, Rar5(4), SevenZip(5)),
        ["7z-in-7z"] = name => Nested(name, SevenZip(1), SevenZip(5)),
        ["rar-in-split"] = name => Nested(name, Rar5(1), new ArchiveLayout { Format = LayoutFormat.Split, Volumes = 5, Entries = [] }),
        ["rar-in-encrypted-rar"] = name => Nested(name, Rar5(1), Rar5(5) with { Password = Password }),
    };

    public static IReadOnlyCollection<string> Names => All.Keys;

    public static MockRelease Make(string name) => All[name](name);

    public static ArchiveLayout Rar5(int volumes, long bytes = 600_000) => Layout(LayoutFormat.Rar5, volumes, bytes);

    public static ArchiveLayout Rar4(int volumes, long bytes = 600_000) => Layout(LayoutFormat.Rar4, volumes, bytes);

    public static ArchiveLayout SevenZip(int volumes) => Layout(LayoutFormat.SevenZip, volumes, 600_000);

    public static ReleaseBuilder Builder(string title, int articleSize = ArticleSize) => new(title, SeedOf(title), articleSize);

    private static ArchiveLayout Layout(LayoutFormat format, int volumes, long bytes) =>
        new() { Format = format, Volumes = volumes, Entries = [new LayoutEntry("film.mkv", bytes)], Stem = "film" };

    private static MockRelease Nested(string name, ArchiveLayout inner, ArchiveLayout outer)
    {
        var builder = Builder(name).Password(outer.Password);
        var archive = (inner with { Stem = inner.Format == LayoutFormat.Split ? "film.mkv" : "inside" }).Make(seed: 5, builder.NextStream());
        var around = (outer with { Entries = archive.AsEntries(), Stem = "outside" }).Make(seed: 6, builder.NextStream());
        return builder.AddArchive(around, archive.Entries).Build();
    }

    // Releases with equal seeds would have equal message-ids, so each title gives a seed of its own.
    private static ulong SeedOf(string title) => title.Aggregate(17UL, static (seed, letter) => (seed * 31) + letter);
}
