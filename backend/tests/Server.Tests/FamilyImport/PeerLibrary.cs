using System.IO.Compression;
using Microsoft.Data.Sqlite;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.FamilyImport;

/// <summary>A file in the library of an old server, as listed in its tables.</summary>
internal sealed record PeerFile(Guid Id, string Path, long Length, Guid? Item)
{
    /// <summary>The folder of its release.</summary>
    public string Folder => Path.Split('/')[1];
}

/// <summary>
/// Data folders written by InfiniDysk and nzbdav, the posts that they imported, and the errors of Sluice when it imports the same NZBs.
/// </summary>
public sealed class PeerLibrary : IAsyncLifetime
{
    // Walks up the parents, because the oldest server stores no paths.
    private const string FilesQuery = """
        WITH RECURSIVE tree (Id, Path, FileSize, Folder) AS (
            SELECT Id, Name, FileSize, Id FROM DavItems WHERE ParentId = '00000000-0000-0000-0000-000000000002'
            UNION ALL
            SELECT item.Id, tree.Path || '/' || item.Name, item.FileSize, CASE WHEN instr(tree.Path, '/') = 0 THEN item.Id ELSE tree.Folder END
            FROM DavItems item JOIN tree ON item.ParentId = tree.Id)
        SELECT tree.Id, tree.Path, tree.FileSize, (SELECT history.Id FROM HistoryItems history WHERE history.DownloadDirId = tree.Folder)
        FROM tree WHERE FileSize IS NOT NULL ORDER BY tree.Path
        """;

    private readonly Dictionary<string, string> _sentences = [];
    private MockServer? _mock;

    public MockServer Mock => _mock!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync(new MockOptions
        {
            Releases = [.. PeerReleases.All.Where(release => !PeerReleases.Gone.Contains(release.Title))],
            Faults = PeerReleases.Faults,
        });
        using var folder = new TemporaryFolder();
        await using var donor = await ProductHost.StartAsync(folder, Mock);
        var items = new Dictionary<string, string>();
        foreach (var release in PeerReleases.All)
            items.Add(release.Title, (await donor.AddAsync(release.ToNzb(), PeerReleases.NzbNameOf(release), Token, "&cat=movies"))[0]);
        foreach (var (title, item) in items)
        {
            await donor.WaitForHistoryAsync(item, Token);
            _sentences.Add(title, (await donor.Get<HistoryStore>().FindAsync(item, Token))!.FailMessage);
        }
    }

    public async ValueTask DisposeAsync() => await Mock.DisposeAsync();

    /// <summary>Unpacks the data folder of an old server, and changes only its provider to the mock.</summary>
    internal IReadOnlyList<PeerFile> Unpack(string name, TemporaryFolder folder)
    {
        ZipFile.ExtractToDirectory(Repository.Fixture($"peers/{name}.zip"), folder.Root, overwriteFiles: true);
        using var connection = new SqliteConnection($"Data Source={Path.Combine(folder.Root, "db.sqlite")};Pooling=False");
        connection.Open();
        using (var command = connection.CreateCommand())
        {
            command.CommandText = "UPDATE ConfigItems SET ConfigValue = @providers WHERE ConfigName = 'usenet.providers'";
            command.Parameters.AddWithValue("@providers", ProductHost.ProvidersJson(Mock));
            Assert.Equal(1, command.ExecuteNonQuery());
        }

        using var query = connection.CreateCommand();
        query.CommandText = FilesQuery;
        using var reader = query.ExecuteReader();
        var files = new List<PeerFile>();
        while (reader.Read())
            files.Add(new PeerFile(Guid.Parse(reader.GetString(0)), reader.GetString(1), reader.GetInt64(2), reader.IsDBNull(3) ? null : Guid.Parse(reader.GetString(3))));
        return files;
    }

    /// <summary>The error of an import of the same NZB by Sluice; empty if it succeeds.</summary>
    internal string SentenceOf(PeerFile file) => _sentences[ReleaseOf(file).Title];

    internal static MockRelease ReleaseOf(PeerFile file) => PeerReleases.Find(file.Folder["Peer.".Length..]);

    /// <summary>Returns the bytes of a file: the posted file with its name, or the file of an archive with its length.</summary>
    internal static byte[] TruthOf(PeerFile file)
    {
        var release = ReleaseOf(file);
        var posted = release.Files.ToList().FindIndex(post => post.Name == Path.GetFileName(file.Path));
        return (posted >= 0 ? release.BytesOf(posted) : release.Entries.Single(entry => entry.Bytes.Length == file.Length).Bytes).ToArray();
    }

    /// <summary>Counts the requests for articles of a release.</summary>
    internal int BodiesOf(MockRelease release)
    {
        var bodies = Mock.Stats.Bodies;
        return Enumerable.Range(0, release.Files.Count).SelectMany(release.MessageIds).Sum(id => bodies.GetValueOrDefault(id));
    }
}
