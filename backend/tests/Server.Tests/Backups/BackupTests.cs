using System.Net;
using System.Text.Json.Nodes;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>Backups of a running server, and the detection of each kind of damage (OPS-1 to OPS-6).</summary>
public sealed class BackupTests
{
    private const UnixFileMode Private = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task OPS_1_Backup_holds_database_keys_and_manifest()
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        await films.StartAsync();

        var made = await films.BackUpAsync();

        var folder = Path.Combine(films.Root, "backups", made["id"]!.ToString());
        Assert.Equal(["blobs.keys", "manifest.json", "sluice.db"], Directory.GetFiles(folder).Select(Path.GetFileName).Order());
        foreach (var file in Directory.GetFiles(folder))
            Assert.Equal(Private, OperatingSystem.IsWindows() ? Private : File.GetUnixFileMode(file));
        Assert.Equal(films.StoredNzbs.Select(hash => BlobStore.KeyOf(hash)).Order(), BackupKeys.Read(folder));
        Assert.Equal(("manual", 3, 3), (made["kind"]!.ToString(), made["nzbs"]!.GetValue<int>(), made["files"]!.GetValue<int>()));
        Assert.Equal(new FileInfo(Path.Combine(folder, "sluice.db")).Length, made["bytes"]!.GetValue<long>());
        Assert.Null(Proof(films).FindFlaw(folder, films.Host.Get<BlobStore>(), Token));
    }

    [Theory]
    [InlineData("sluice.db")]
    [InlineData("blobs.keys")]
    [InlineData("manifest.json")]
    [InlineData("blobs")]
    public async Task OPS_2_Flipped_bit_in_any_part_is_detected(string part)
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var folder = Path.Combine(films.Root, "backups", (await films.BackUpAsync())["id"]!.ToString());
        var path = part == "blobs" ? Directory.GetFiles(Path.Combine(films.Root, part), "*.nzb.br")[0] : Path.Combine(folder, part);
        var sound = await File.ReadAllBytesAsync(path, Token);
        var random = new Random(34);

        for (var i = 0; i < 40; i++)
        {
            var damaged = sound.ToArray();
            damaged[i < 8 ? i * damaged.Length / 8 : random.Next(damaged.Length)] ^= (byte)(1 << random.Next(8));
            await File.WriteAllBytesAsync(path, damaged, Token);
            // Some bits of a compressed NZB have no effect, so it decompresses to the same bytes.
            if (part != "blobs" || !BlobStore.IsWhole(new MemoryStream(damaged), Path.GetFileName(path)[..64]))
                Assert.NotNull(Proof(films).FindFlaw(folder, films.Host.Get<BlobStore>(), Token));
        }

        await File.WriteAllBytesAsync(path, sound, Token);
        Assert.Null(Proof(films).FindFlaw(folder, films.Host.Get<BlobStore>(), Token));
    }

    [Fact]
    public async Task OPS_2_Missing_nzb_fails_the_backup_and_keeps_the_previous()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var first = (await films.BackUpAsync())["id"]!.ToString();
        File.Delete(Directory.GetFiles(Path.Combine(films.Root, "blobs"), "*.nzb.br")[0]);

        using (var begun = await films.Host.CallAsync(HttpMethod.Post, "backups"))
            Assert.Equal(HttpStatusCode.Accepted, begun.StatusCode);
        JsonNode? list = null;
        await films.UntilAsync(async () => (list = await films.Host.AskAsync(HttpMethod.Get, "backups"))["failure"] is not null);

        Assert.Contains("missing", list!["failure"]!.ToString(), StringComparison.Ordinal);
        Assert.Equal(first, Assert.Single(list["items"]!.AsArray())!["id"]!.ToString());
        Assert.Single(Directory.GetDirectories(Path.Combine(films.Root, "backups"), "*.failed"));
        Assert.Contains(films.Log, line => line.StartsWith("Error: Backup failed", StringComparison.Ordinal));
    }

    [Fact]
    public async Task OPS_2_Nzb_in_quarantine_still_completes_the_backup()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var folder = Path.Combine(films.Root, "backups", (await films.BackUpAsync())["id"]!.ToString());

        films.Host.Get<BlobStore>().Retire(films.StoredNzbs.First());

        Assert.Single(films.StoredNzbs);
        Assert.Null(Proof(films).FindFlaw(folder, films.Host.Get<BlobStore>(), Token));
    }

    [Fact]
    public async Task OPS_3_Unchanged_database_only_renews_the_manifest()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var made = films.Host.Get<BackupFolder>().Find((await films.BackUpAsync())["id"]!.ToString())!;
        var maker = films.Host.Get<BackupMaker>();

        // The call above created its key after the backup, so the database has changed.
        var next = maker.Make(BackupKind.Daily, Token);
        Assert.False(maker.TryRenew(made));
        Assert.True(maker.TryRenew(next));
        await films.AddAsync(1);
        Assert.False(maker.TryRenew(next));

        var renewed = films.Host.Get<BackupFolder>().Find(next.Id)!.Manifest;
        Assert.True(renewed.StillTrueAt > renewed.At);
        Assert.Null(Proof(films).FindFlaw(next.Path, films.Host.Get<BlobStore>(), Token));
    }

    [Fact]
    public async Task OPS_1_Startup_removes_unfinished_backups()
    {
        await using var films = await PublishedFilms.CreateAsync(0);
        var backups = Path.Combine(films.Root, "backups");
        var left = Directory.CreateDirectory(Path.Combine(backups, "2026-01-03T100000Z-v35.partial")).FullName;
        var foreign = Directory.CreateDirectory(Path.Combine(backups, "mine.partial")).FullName;
        await File.WriteAllTextAsync(Path.Combine(left, "sluice.db"), "x", Token);

        await films.StartAsync();

        Assert.False(Directory.Exists(left));
        Assert.True(Directory.Exists(foreign));
    }

    [Fact]
    public async Task Only_backup_is_never_deleted()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var first = (await films.BackUpAsync())["id"]!.ToString();
        using (var refused = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{first}"))
            Assert.Equal(HttpStatusCode.Conflict, refused.StatusCode);
        films.Host.Get<BackupMaker>().Make(BackupKind.Manual, Token);

        using (var deleted = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{first}"))
            Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        foreach (var unknown in (string[])[first, "..%2f..", "2026-01-03T100000Z-v35"])
        {
            using var answer = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{unknown}");
            Assert.Equal(HttpStatusCode.NotFound, answer.StatusCode);
        }

        Assert.Single((await films.Host.AskAsync(HttpMethod.Get, "backups"))["items"]!.AsArray());
    }

    private static BackupProof Proof(PublishedFilms films) => films.Host.Get<BackupProof>();
}
