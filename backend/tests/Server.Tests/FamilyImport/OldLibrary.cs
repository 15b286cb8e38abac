using System.Text;
using System.Xml.Linq;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>A range of a posted file, as stored by servers of the family.</summary>
internal sealed record OldPart(string[] Ids, long Posted, long Offset, long Length)
{
    /// <summary>Total of the encoded bytes in the NZB.</summary>
    public long Encoded { get; init; }
}

/// <summary>A file of the old library with its correct bytes; its kind is 201, 202 or 203.</summary>
internal sealed record OldFile(Guid Id, string Name, MockBytes Truth, int Kind, OldPart[] Parts, StreamCipher? Cipher)
{
    /// <summary>Number of volumes that the old server has read of a lazily read set; null if it reads at once.</summary>
    public int? Resolved { get; init; }

    public string? Password { get; init; }
}

internal sealed record OldReleaseRow(Guid Item, Guid Folder, string Category, string Name, byte[] Nzb, OldFile[] Files);

/// <summary>
/// Two hundred posted releases of all kinds. The stored offsets in archives come from a server that has imported the releases; the tests
/// verify them by comparing the bytes with the posted ones.
/// </summary>
public sealed class OldLibrary : IAsyncLifetime
{
    public const int Count = 200;

    // No poster uses the odd size, so estimates for it are wrong. One release in ten has the usual size, and right estimates.
    private const int OddArticle = 9_000;
    private const int UsualArticle = 716_800;

    private static readonly string[] Archives =
    [
        "rar5", "rar5-random", "rar5-several", "rar5-extras", "rar5-encrypted", "rar4", "rar4-encrypted", "rar4-random", "7z", "7z-random", "7z-encrypted", "7z-packed-header", "split",
        "rar5-old-names", "rar5-numbers", "rar-in-rar", "tar", "zip", "zip-split", "rar5-one-volume",
    ];

    private readonly List<OldReleaseRow> _releases = [];
    private MockServer? _mock;

    public MockServer Mock => _mock!;

    internal IReadOnlyList<OldReleaseRow> Releases => _releases;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        using var folder = new TemporaryFolder();
        await using var donor = await ProductHost.StartAsync(
            folder, Mock, null, ("SLUICE_CONFIG__API__LAZY_RAR_PARSING", "false"), ("SLUICE_CONFIG__API__SAMPLE_FILTER_ENABLED", "false"));
        foreach (var name in Archives)
            _releases.Add(await ArchiveAsync(donor, MockLayouts.Make(name), _releases.Count % 2 == 0 ? 202 : 203));
        for (var i = _releases.Count; i < Count; i++)
            _releases.Add(Plain(i));
    }

    public async ValueTask DisposeAsync() => await Mock.DisposeAsync();

    /// <summary>Returns the message-ids of each file of an NZB, in order.</summary>
    internal static List<string[]> IdsOf(byte[] nzb) =>
    [
        .. XDocument.Parse(Encoding.UTF8.GetString(nzb)).Root!.Elements().Where(file => file.Name.LocalName == "file")
            .Select(file => file.Descendants().Where(segment => segment.Name.LocalName == "segment").OrderBy(segment => (int)segment.Attribute("number")!).Select(segment => segment.Value).ToArray()),
    ];

    private OldReleaseRow Plain(int number)
    {
        var (articleSize, size) = number % 10 == 0 ? (UsualArticle, 1_500_000 + number) : (OddArticle, 20_000 + (number * 137));
        var builder = new ReleaseBuilder($"Film.{number}", 900_000 + (ulong)number, articleSize).AddFile($"film.{number}.mkv", size);
        if (number % 3 == 0)
            builder.AddFile($"film.{number}.srt", 4_000 + number);
        var release = builder.Build();
        Mock.Post(release);
        var nzb = release.ToNzb();
        var ids = IdsOf(nzb);
        return Row(release.Title, number % 2 == 0 ? "movies" : "tv", nzb,
        [
            .. release.Entries.Select((entry, i) => new OldFile(
                Guid.NewGuid(), entry.Path, entry.Bytes, 201, [new OldPart(ids[i], entry.Bytes.Length, 0, entry.Bytes.Length)], null)),
        ]);
    }

    private async Task<OldReleaseRow> ArchiveAsync(ProductHost donor, MockRelease release, int kind)
    {
        Mock.Post(release);
        var nzb = release.ToNzb();
        var item = (await donor.AddAsync(nzb, release.Title + ".nzb", Token, "&cat=tv"))[0];
        var slot = await donor.WaitForHistoryAsync(item, Token);
        Assert.Equal("Completed", slot.GetProperty("status").GetString());
        var library = donor.Get<LibraryStore>();
        var found = Assert.IsType<ReleaseEntry>(await library.FindAsync("tv", slot.GetProperty("name").GetString()!, [], Token)).Release;
        var posted = (await library.GetPostedFilesAsync(found.Id, 0, int.MaxValue, Token)).ToDictionary(file => file.Ordinal);
        var ids = IdsOf(nzb);
        var files = new List<OldFile>();
        foreach (var file in await library.GetFilesAsync(found, Token))
        {
            var content = ContentMap.Unpack(file.Content);
            var truth = release.Entries.Single(entry => entry.Path == file.Path || (entry.Path.EndsWith(file.Path, StringComparison.Ordinal) && entry.Bytes.Length == file.Length));
            files.Add(new OldFile(
                Guid.NewGuid(),
                file.Path,
                truth.Bytes,
                content.Cipher is null ? kind : 203,
                [.. content.Extents.Select(extent => new OldPart(ids[extent.PostedFile], posted[extent.PostedFile].Map.Length, extent.Offset, extent.Length))],
                content.Cipher));
        }

        return Row("Archive." + release.Title, "tv", nzb, [.. files.Where(file => file.Cipher is not { Skip: > 0 })]);
    }

    private static OldReleaseRow Row(string name, string category, byte[] nzb, OldFile[] files) => new(Guid.NewGuid(), Guid.NewGuid(), category, name, nzb, files);
}
