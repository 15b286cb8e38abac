using System.Text;
using System.Xml.Linq;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>A film in a RAR set as stored by an old server that reads volumes lazily, and the error of an import; empty if it succeeds.</summary>
internal sealed record LazyFilm(OldReleaseRow Row, string Sentence)
{
    public OldFile File => Row.Files[0];
}

/// <summary>
/// Posted RAR sets of one film each. The offsets come from a server that has imported them; two of the sets cannot be imported. Only the old server knows
/// the passwords, as if they had been in the names of the NZBs.
/// </summary>
public sealed class LazyLibrary : IAsyncLifetime
{
    private static readonly string[] Readable = ["rar5", "rar5-old-names", "rar5-random", "rar5-encrypted", "rar5-headers", "rar5-140-volumes", "rar4", "rar4-encrypted", "rar4-headers"];

    private readonly List<LazyFilm> _films = [];
    private MockServer? _mock;

    public MockServer Mock => _mock!;

    internal IReadOnlyList<LazyFilm> Films => _films;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync();
        using var folder = new TemporaryFolder();
        await using var donor = await ProductHost.StartAsync(folder, Mock, null, ("SLUICE_CONFIG__API__LAZY_RAR_PARSING", "false"));
        foreach (var name in Readable)
            _films.Add(await FilmAsync(donor, "Lazy." + name, MockLayouts.Make(name), knowsPassword: true));
        _films.Add(await FilmAsync(donor, "Lazy.locked", MockLayouts.Builder("Lazy.locked").AddArchive(MockLayouts.Rar5(6) with { Password = "lost", EncryptsHeaders = true }).Build(), knowsPassword: false));
        _films.Add(await FilmAsync(donor, "Lazy.gone", MockLayouts.Builder("Lazy.gone").AddArchive(MockLayouts.Rar5(6)).Build(), knowsPassword: false, isPosted: false));
    }

    public async ValueTask DisposeAsync() => await Mock.DisposeAsync();

    /// <summary>Returns the rows of a film of which the old server has read this number of volumes.</summary>
    internal static OldReleaseRow Played(LazyFilm film, int resolved) =>
        film.Row with { Files = [film.File with { Resolved = Math.Min(resolved, film.File.Parts.Length) }] };

    private async Task<LazyFilm> FilmAsync(ProductHost donor, string title, MockRelease release, bool knowsPassword, bool isPosted = true)
    {
        if (isPosted)
            Mock.Post(release);
        var nzb = Encoding.UTF8.GetString(release.ToNzb());
        var password = XDocument.Parse(nzb).Descendants().FirstOrDefault(meta => meta.Attribute("type")?.Value == "password")?.Value;
        var bare = Encoding.UTF8.GetBytes(password is null ? nzb : Without(nzb));
        var query = password is not null && knowsPassword ? $"&password={password}" : "";
        var item = (await donor.AddAsync(bare, title + ".nzb", Token, "&cat=tv" + query))[0];
        await donor.WaitForHistoryAsync(item, Token);
        var ended = (await donor.Get<HistoryStore>().FindAsync(item, Token))!;
        var (truth, ids, encoded) = (release.Entries[0], OldLibrary.IdsOf(bare), EncodedOf(bare));
        OldFile file;
        if (ended.IsCompleted)
        {
            var library = donor.Get<LibraryStore>();
            var found = Assert.IsType<ReleaseEntry>(await library.FindAsync("tv", ended.Name, [], Token)).Release;
            var posted = (await library.GetPostedFilesAsync(found.Id, 0, int.MaxValue, Token)).ToDictionary(each => each.Ordinal);
            var content = ContentMap.Unpack(Assert.Single(await library.GetFilesAsync(found, Token)).Content);
            file = new OldFile(
                Guid.NewGuid(),
                truth.Path,
                truth.Bytes,
                203,
                [.. content.Extents.Select(extent => new OldPart(ids[extent.PostedFile], posted[extent.PostedFile].Map.Length, extent.Offset, extent.Length) { Encoded = encoded[extent.PostedFile] })],
                content.Cipher);
        }
        else
        {
            // The old server imported it anyway. The offsets in it do not matter.
            var length = truth.Bytes.Length / ids.Count;
            file = new OldFile(
                Guid.NewGuid(),
                truth.Path,
                truth.Bytes,
                203,
                [.. ids.Select((list, i) => new OldPart(list, encoded[i], 100, i < ids.Count - 1 ? length : truth.Bytes.Length - (length * (ids.Count - 1))) { Encoded = encoded[i] })],
                null);
        }

        return new LazyFilm(new OldReleaseRow(Guid.NewGuid(), Guid.NewGuid(), "tv", title, bare, [file with { Password = knowsPassword ? password : null }]), ended.FailMessage);
    }

    private static string Without(string nzb)
    {
        var document = XDocument.Parse(nzb);
        document.Descendants().Where(meta => meta.Attribute("type")?.Value == "password").Remove();
        return document.ToString();
    }

    private static List<long> EncodedOf(byte[] nzb) =>
    [
        .. XDocument.Parse(Encoding.UTF8.GetString(nzb)).Root!.Elements().Where(file => file.Name.LocalName == "file")
            .Select(file => file.Descendants().Where(segment => segment.Name.LocalName == "segment").Sum(segment => (long)segment.Attribute("bytes")!)),
    ];
}
