using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>
/// The posts that the old servers of <c>Fixtures/peers</c> imported. The mock generates their articles from seeds, so a change here needs new
/// fixtures.
/// </summary>
internal static class PeerReleases
{
    private const string Password = "open-sesame";

    private static readonly string[] Layouts =
    [
        "plain", "rar5", "rar5-one-volume", "rar5-old-names", "rar5-numbers", "rar5-random", "rar5-140-volumes", "rar5-extras", "rar5-encrypted",
        "rar5-encrypted-unchecked", "rar5-encrypted-wrong-check", "rar5-headers", "rar5-headers-random", "rar5-several", "rar5-several-random", "rar4",
        "rar4-random", "rar4-no-numbers-par2", "rar4-encrypted", "rar4-headers", "7z", "7z-one-volume", "7z-packed-header", "7z-encrypted", "7z-headers", "split",
        "rar-in-rar", "split-in-rar", "rar-in-7z", "rar-in-encrypted-rar",
    ];

    /// <summary>All releases, each named after its layout.</summary>
    public static IReadOnlyList<MockRelease> All { get; } =
    [
        .. Layouts.Select(MockLayouts.Make),
        // Each volume is a single article, so it has no neighbors to confirm its offset.
        MockLayouts.Builder("one-article-volumes").AddArchive(MockLayouts.Rar5(40)).Build(),
        MockLayouts.Builder("par2").Obfuscate().AddArchive(MockLayouts.Rar5(12)).AddPar2(2).Shuffle().Build(),
        MockLayouts.Builder("rar5-mixed").AddFile("film.nfo", 900).AddArchive(MockLayouts.Rar5(8) with { Shifted = (3, 500) }).AddPar2(0).Build(),
        MockLayouts.Builder("named").AddArchive(MockLayouts.Rar5(9) with { Password = Password }).Build(),
        MockLayouts.Builder("named-headers").AddArchive(MockLayouts.Rar5(9) with { Password = Password, EncryptsHeaders = true }).Build(),
        MockLayouts.Builder("named-rar4").AddArchive(MockLayouts.Rar4(6) with { Password = Password, Naming = VolumeNaming.Old }).Build(),
        MockLayouts.Builder("season").AddFile("show.s01e01.mkv", 210_000).AddFile("show.s01e02.mkv", 190_001).Build(),
        Nested("nested", MockLayouts.Rar5(7)),
        // Releases that an import rejects, or that it opens with a gap.
        MockLayouts.Builder("locked").AddArchive(MockLayouts.Rar5(6) with { Password = "lost" }).Build(),
        MockLayouts.Builder("locked-headers").AddArchive(MockLayouts.Rar5(6) with { Password = "lost", EncryptsHeaders = true }).Build(),
        MockLayouts.Builder("volume-lost").AddArchive(MockLayouts.Rar5(9) with { Unposted = [4] }).Build(),
        MockLayouts.Builder("compressed").AddArchive(MockLayouts.Rar5(3) with { Entries = [new LayoutEntry("film.mkv", 600_000) { IsCompressed = true }] }).Build(),
        MockLayouts.Builder("hole").AddArchive(MockLayouts.Rar5(9)).Build(),
        MockLayouts.Builder("corrupt").AddArchive(MockLayouts.Rar5(9)).Build(),
        MockLayouts.Builder("gone").AddArchive(MockLayouts.Rar5(6)).Build(),
    ];

    /// <summary>Releases whose articles were gone before Sluice imported them.</summary>
    public static IReadOnlySet<string> Gone { get; } = new HashSet<string> { "gone" };

    /// <summary>Releases with an article in the middle that is missing or damaged at the provider.</summary>
    public static IReadOnlySet<string> Damaged { get; } = new HashSet<string> { "hole", "corrupt" };

    /// <summary>The missing and the damaged article of the provider.</summary>
    public static IReadOnlyList<MockFault> Faults { get; } =
    [
        new MockFault { Kind = FaultKind.Missing, Articles = ArticleSelection.Article(Find("hole").MessageId(5, 2)) },
        new MockFault { Kind = FaultKind.Corrupt, Articles = ArticleSelection.Article(Find("corrupt").MessageId(5, 2)) },
    ];

    /// <summary>Builds a film in a one-volume archive, which InfiniDysk opens, inside another set.</summary>
    private static MockRelease Nested(string title, ArchiveLayout outer)
    {
        var builder = MockLayouts.Builder(title);
        var inner = (MockLayouts.Rar5(1) with { Stem = "inside" }).Make(seed: 5, builder.NextStream());
        return builder.AddArchive((outer with { Entries = inner.AsEntries(), Stem = "outside" }).Make(seed: 6, builder.NextStream()), inner.Entries).Build();
    }

    public static MockRelease Find(string name) => All.Single(release => release.Title == name);

    /// <summary>Whether one volume differs in size from its neighbors.</summary>
    public static bool HasUnforeseenVolume(MockRelease release) => release.Title == "rar5-mixed";

    /// <summary>Returns the name of the added NZB; some names contain the password.</summary>
    public static string NzbNameOf(MockRelease release) => $"Peer.{release.Title}{(release.Title.StartsWith("named", StringComparison.Ordinal) ? $"{{{{{Password}}}}}" : "")}.nzb";
}
