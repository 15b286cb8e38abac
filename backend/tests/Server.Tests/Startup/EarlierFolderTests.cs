using System.Formats.Tar;
using System.Globalization;
using System.IO.Compression;
using System.Net;
using System.Security.Cryptography;
using Microsoft.Data.Sqlite;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>
/// Data folders of earlier builds, made by <c>tools/earlier-folder.sh</c>, open, migrate, and play the bytes that those builds served (OPS-20). Their backups
/// can be restored (OPS-96).
/// </summary>
public sealed class EarlierFolderTests : IDisposable
{
    // Earlier builds made no backups.
    private const int FirstWithBackups = 39;

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static TheoryData<int> Schemas => [.. All()];

    public static TheoryData<int> SchemasWithBackups => [.. All().Where(schema => schema >= FirstWithBackups)];

    public void Dispose() => _temporary.Dispose();

    [Theory]
    [MemberData(nameof(Schemas))]
    public async Task Earlier_folder_migrates_and_plays_the_same_bytes(int schema)
    {
        var films = Unpack(schema);
        Assert.Equal(schema, ReadVersion());
        await using var mock = await MockServer.StartAsync();

        // The first start migrates, and the second one opens the result.
        for (var start = 0; start < 2; start++)
        {
            await using var host = await ProductHost.StartAsync(_temporary, mock);
            await AssertServesAsync(host, films);
        }

        var latest = Migration.LoadEmbedded().Count;
        Assert.Equal(latest, ReadVersion());
        Assert.Equal(schema < latest, File.Exists(Path.Combine(_temporary.Folder.Backups, $"before-migration-{schema}-to-{latest}.db")));
    }

    [Theory]
    [MemberData(nameof(SchemasWithBackups))]
    public async Task Backup_of_an_earlier_build_is_restored(int schema)
    {
        var films = Unpack(schema);
        var copy = Path.Combine(_temporary.Parent, "copy.db");
        Execute($"VACUUM INTO '{copy}'");
        await using var mock = await MockServer.StartAsync();
        await using (var host = await ProductHost.StartAsync(_temporary, mock))
        {
            var backup = MakeBackup(host, copy, schema);
            var plan = host.Get<RestorePlan>();
            Assert.Null(plan.FindObstacle(backup, Token));
            Assert.Contains("old", plan.Estimate(backup).Sentence, StringComparison.Ordinal);
            plan.Request(backup, "a test", requeue: false);
        }

        await using (var host = await ProductHost.StartAsync(_temporary, mock))
            await AssertServesAsync(host, films);
        Assert.Single(Directory.GetDirectories(_temporary.Folder.Replaced));
        Assert.False(File.Exists(_temporary.Folder.RestoreWish));
    }

    private static IEnumerable<int> All() =>
        Directory.GetFiles(Repository.Fixture("earlier"), "schema-*.tar.gz").Select(path => int.Parse(Path.GetFileName(path).AsSpan(7, 2), CultureInfo.InvariantCulture)).Order();

    /// <summary>Unpacks a folder and returns paths and checksums of its films.</summary>
    private List<(string Path, string Sha256)> Unpack(int schema)
    {
        using (var packed = File.OpenRead(Repository.Fixture($"earlier/schema-{schema:00}.tar.gz")))
        using (var tar = new GZipStream(packed, CompressionMode.Decompress))
            TarFile.ExtractToDirectory(tar, _temporary.Root, overwriteFiles: true);
        var list = Path.Combine(_temporary.Root, "films.sha256");
        List<(string, string)> films = [.. File.ReadLines(list).Select(line => line.Split("  ", 2)).Select(parts => (parts[1], parts[0]))];
        Assert.NotEmpty(films);
        File.Delete(list);
        return films;
    }

    /// <summary>Checks that nothing was lost: the films in the tree with their bytes, their history, and every secret.</summary>
    private async Task AssertServesAsync(ProductHost host, List<(string Path, string Sha256)> films)
    {
        Assert.DoesNotContain("safe", await host.Client.GetStringAsync("healthz", Token), StringComparison.Ordinal);
        foreach (var (path, sha256) in films)
        {
            using var film = await host.SendAsync(HttpMethod.Get, path, null, Token);
            Assert.Equal(HttpStatusCode.OK, film.StatusCode);
            Assert.Equal(sha256, Convert.ToHexStringLower(SHA256.HashData(await film.Content.ReadAsByteArrayAsync(Token))));
        }

        var folders = films.Select(film => film.Path.Split('/')[^2]).ToHashSet();
        using (var listing = await host.SendAsync(new HttpMethod("PROPFIND"), "content/movies/", null, Token, ("Depth", "1")))
        {
            var text = await listing.Content.ReadAsStringAsync(Token);
            Assert.All(folders, folder => Assert.Contains(folder, text, StringComparison.Ordinal));
        }

        var slots = (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").EnumerateArray().ToList();
        Assert.Equal(2, slots.Count);
        Assert.Equal(folders.Count, slots.Count(slot => slot.GetProperty("status").GetString() == "Completed"));
        Assert.DoesNotContain(host.Get<SettingsSource>().Current.All, setting => setting.IsLocked);
        Assert.Equal(2, Directory.GetFiles(_temporary.Folder.Blobs, "*.nzb.br").Length);
    }

    /// <summary>Makes a backup as the earlier build did, of its database.</summary>
    private Backup MakeBackup(ProductHost host, string copy, int schema)
    {
        var at = DateTimeOffset.UnixEpoch.AddYears(56);
        var name = BackupFolder.NameOf(at, schema);
        var folder = Directory.CreateDirectory(Path.Combine(_temporary.Folder.Backups, name)).FullName;
        var database = Path.Combine(folder, BackupFolder.DatabaseName);
        File.Move(copy, database);
        using var read = DatabaseCopy.Open(database);
        var keys = BackupKeys.ToBytes(read.HashesOf(host.GetAll<BlobReference>()).Select(hash => BlobStore.KeyOf(hash)));
        File.WriteAllBytes(Path.Combine(folder, BackupKeys.FileName), keys);
        var (count, bytes) = host.Get<BackupProof>().Measure(read, host.Get<BlobStore>());
        new BackupManifest(
            name, BackupKind.Manual, at, "0.1.0", read.ReadVersion(), read.ReadInstance() ?? "", read.ReadGeneration(), read.ReadNumbers(),
            BackupProof.HashOf(database, Token), Convert.ToHexStringLower(SHA256.HashData(keys)), new FileInfo(database).Length, read.CountRows(), count, bytes)
        {
            StillTrueAt = at,
        }.Write(folder);
        return host.Get<BackupFolder>().Find(name)!;
    }

    private int ReadVersion() => Convert.ToInt32(Execute("PRAGMA user_version"), CultureInfo.InvariantCulture);

    private object? Execute(string sql)
    {
        using var connection = new SqliteConnection($"Data Source={_temporary.Folder.Database};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        return command.ExecuteScalar();
    }
}
