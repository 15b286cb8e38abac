using System.Globalization;
using System.Net;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>Complete copies of the backups in a second folder, and a restore from them alone (OPS-5).</summary>
public sealed class SecondFolderTests
{
    private const string Setting = "SLUICE_CONFIG__BACKUP__SECOND_DIR";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public void OPS_5_Copies_are_flushed_together_before_their_names()
    {
        using var folder = new TemporaryFolder();
        var files = new RecordingBlobFiles();
        var pool = new BlobPool(Path.Combine(folder.Root, "second"), files);
        pool.Prepare();
        for (var number = 1; number <= 600; number++)
            pool.Put($"{number:x4}".PadRight(64, '0') + BlobStore.NzbSuffix, new MemoryStream([1]), Token);
        pool.Flush();

        Assert.Equal(600, pool.MeasureNzbs().Count);
        Assert.DoesNotContain("fsync tmp", files.Calls);
        var synced = 0;
        foreach (var call in files.Calls.Where(static call => call.StartsWith("sync ", StringComparison.Ordinal) || call.StartsWith("rename ", StringComparison.Ordinal)))
            Assert.True((synced += call.StartsWith("sync ", StringComparison.Ordinal) ? int.Parse(call[5..], CultureInfo.InvariantCulture) : -1) >= 0, call);
        Assert.Equal(["sync 512", "sync 88"], files.Calls.Where(static call => call.StartsWith("sync ", StringComparison.Ordinal)));
    }

    [Fact]
    public void OPS_5_Copies_are_flushed_one_by_one_on_old_systems()
    {
        using var folder = new TemporaryFolder();
        var paths = Enumerable.Range(0, 3).Select(number => Path.Combine(folder.Root, $"{number}.tmp")).ToList();
        paths.ForEach(path => File.WriteAllText(path, "x"));
        var files = new DiskBlobFiles(syncsVolumes: false);

        // Needs no volume, because each file is flushed on its own.
        files.SyncFiles(Path.Combine(folder.Root, "absent"), paths);

        // The fault of any file is reported, because its name must not be used.
        foreach (var path in paths)
        {
            File.Delete(path);
            Assert.Throws<FileNotFoundException>(() => files.SyncFiles(folder.Root, paths));
            File.WriteAllText(path, "x");
        }
    }

    [Fact]
    public void OPS_5_Copies_are_flushed_by_one_call_on_new_systems()
    {
        Assert.SkipUnless(PosixCalls.CanSyncVolumes, "needs Linux 5.8");
        using var folder = new TemporaryFolder();
        var files = new DiskBlobFiles(syncsVolumes: true);

        // The call needs no file, and reports a fault of the volume.
        files.SyncFiles(folder.Root, [Path.Combine(folder.Root, "absent")]);
        Assert.Throws<IOException>(() => files.SyncFiles(Path.Combine(folder.Root, "absent"), []));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task OPS_5_Copies_are_sound_with_either_kind_of_flush(bool syncsVolumes)
    {
        Assert.SkipUnless(PosixCalls.CanSyncVolumes || !syncsVolumes, "needs Linux 5.8");
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        var id = (await films.BackUpAsync())["id"]!.ToString();
        Directory.CreateDirectory(films.Second);
        var second = new SecondFolder(films.Second, new DiskBlobFiles(syncsVolumes), films.Host.Get<BackupProof>(), films.Host.GetAll<BlobReference>());

        var made = second.Copy(films.Host.Get<BackupFolder>().Find(id)!, films.Host.Get<BlobStore>(), Token);

        Assert.Equal(2, made.Nzbs);
        Assert.Null(FindFlaw(films, id));
    }

    [Fact]
    public async Task OPS_5_Second_folder_gets_each_backup_and_each_nzb_once()
    {
        await using var films = await StartAsync(3);
        var id = await CopiedAsync(films);
        Assert.Equal(["blobs.keys", "manifest.json", "sluice.db"], Directory.GetFiles(Path.Combine(films.Second, id)).Select(Path.GetFileName).Order());
        Assert.Equal(films.StoredNzbs.Order(), CopiedNzbs(films).Select(path => Path.GetFileName(path)[..64]).Order());
        Assert.All(CopiedNzbs(films), path => Assert.Equal(Path.GetFileName(path)[..2], Path.GetFileName(Path.GetDirectoryName(path))));
        var before = CopiedNzbs(films).ToDictionary(path => path, File.GetLastWriteTimeUtc);
        await films.AddAsync(2);

        var next = await CopiedAsync(films);

        Assert.Equal(5, CopiedNzbs(films).Count);
        Assert.All(before, copy => Assert.Equal(copy.Value, File.GetLastWriteTimeUtc(copy.Key)));
        Assert.All((string[])[id, next], name => Assert.Null(FindFlaw(films, name)));
        var second = (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!;
        Assert.Equal((films.Second, 2), (second["path"]!.ToString(), second["count"]!.GetValue<int>()));
    }

    [Fact]
    public async Task OPS_5_Unchanged_second_folder_is_not_written()
    {
        await using var films = await StartAsync(2);
        await CopiedAsync(films);
        var before = Snapshot(films.Second);
        await films.StopAsync();

        await films.StartAsync((Setting, films.Second));
        await films.UntilAsync(async () => (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"] is not null);
        // A change of any setting starts a round.
        Assert.Empty(await films.Host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["backup.retention-count"] = "6" }, Token));
        await films.UntilAsync(async () => !(await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!["isCopying"]!.GetValue<bool>());

        Assert.Equal(before, Snapshot(films.Second));
    }

    [Fact]
    public async Task OPS_5_Backup_from_second_folder_plays_on_an_empty_machine()
    {
        await using var films = await StartAsync(3);
        var id = await CopiedAsync(films);
        await films.StopAsync();
        films.LoseData();
        await films.StartAsync((Setting, films.Second));
        await films.UntilAsync(async () => (await films.Host.AskAsync(HttpMethod.Get, "backups"))["items"]!.AsArray().Count == 1);
        var row = (await films.Host.AskAsync(HttpMethod.Get, "backups"))["items"]![0]!;
        Assert.Equal((id, "second-folder"), (row["id"]!.ToString(), row["place"]!.ToString()));

        var cost = await films.Host.AskAsync(HttpMethod.Post, $"backups/{id}/restore", new { });
        await films.UntilAsync(() => Task.FromResult(films.Host.Get<ProcessRestart>().IsRequested));
        await films.StopAsync();
        await films.StartAsync((Setting, films.Second));

        Assert.Equal(3, cost["files"]!.GetValue<int>());
        Assert.False(await films.IsSafeModeAsync());
        await films.AssertPlayAsync();
        var slots = (await films.Host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots").EnumerateArray();
        Assert.Equal(films.Ids.Order(), slots.Select(slot => slot.GetProperty("nzo_id").GetString()).Order());
        // The restored installation owns the second folder again.
        await films.AddAsync(1);
        await CopiedAsync(films);
    }

    [Fact]
    public async Task OPS_5_Damaged_copy_is_replaced_from_the_data_folder()
    {
        await using var films = await StartAsync(2);
        var id = await CopiedAsync(films);
        var copy = CopiedNzbs(films)[0];
        var sound = await File.ReadAllBytesAsync(copy, Token);
        await File.WriteAllBytesAsync(copy, Damaged(sound), Token);
        Assert.Contains("damaged", FindFlaw(films, id)!, StringComparison.Ordinal);

        var check = new PoolCheck(BlobPool.In(films.Second, new DiskBlobFiles()), films.Host.Get<BlobStore>());
        var found = Enumerable.Range(0, PoolCheck.Days).Select(day => check.Run(day, Token)).ToList();

        Assert.Equal((1, 0), (found.Sum(part => part.Replaced), found.Sum(part => part.Damaged)));
        Assert.Equal(sound, await File.ReadAllBytesAsync(copy, Token));

        // The next copy notices damage at once.
        await File.WriteAllBytesAsync(copy, Damaged(sound), Token);
        await films.AddAsync(1);
        await CopiedAsync(films);
        Assert.Equal(sound, await File.ReadAllBytesAsync(copy, Token));
    }

    [Fact]
    public async Task OPS_5_Damaged_original_never_replaces_a_copy()
    {
        await using var films = await StartAsync(1);
        await CopiedAsync(films);
        var copy = CopiedNzbs(films)[0];
        var original = Path.Combine(films.Root, "blobs", Path.GetFileName(copy));
        await File.WriteAllBytesAsync(original, Damaged(await File.ReadAllBytesAsync(original, Token)), Token);
        var sound = await File.ReadAllBytesAsync(copy, Token);
        var check = new PoolCheck(BlobPool.In(films.Second, new DiskBlobFiles()), films.Host.Get<BlobStore>());

        Assert.Equal(new PoolCheckResult(0, 0), check.RunAll(Token));
        Assert.Equal(sound, await File.ReadAllBytesAsync(copy, Token));
        await File.WriteAllBytesAsync(copy, Damaged(sound), Token);
        Assert.Equal(new PoolCheckResult(0, 1), check.RunAll(Token));
    }

    [Fact]
    public async Task OPS_5_Missing_second_folder_is_reported_and_recovers()
    {
        await using var films = await StartAsync(1);
        await CopiedAsync(films);
        Directory.Move(films.Second, films.Second + "-away");
        await films.AddAsync(1);

        await films.BackUpAsync();
        await FailsAsync(films, "the folder does not exist");
        var needs = await films.Host.AskAsync(HttpMethod.Get, "home");
        Assert.Contains("could not be copied to the second folder", needs.ToJsonString(), StringComparison.Ordinal);

        // An empty mount point must not be filled.
        Directory.CreateDirectory(films.Second);
        await films.AddAsync(1);
        await films.BackUpAsync();
        await FailsAsync(films, "is its disk mounted?");
        Assert.Empty(Directory.GetFileSystemEntries(films.Second));

        Directory.Delete(films.Second);
        Directory.Move(films.Second + "-away", films.Second);
        await films.AddAsync(1);
        await CopiedAsync(films);
        Assert.Null((await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!["failure"]);
    }

    [Fact]
    public async Task OPS_5_Second_folder_of_another_sluice_is_left_alone()
    {
        await using var films = await StartAsync(1);
        await CopiedAsync(films);
        var before = Snapshot(films.Second);
        await films.StopAsync();
        films.LoseData();
        await films.StartAsync((Setting, films.Second));

        await films.BackUpAsync();

        await FailsAsync(films, "holds backups of another Sluice");
        Assert.Equal(before, Snapshot(films.Second));
    }

    [Fact]
    public async Task OPS_5_Pruning_deletes_unneeded_copies_only()
    {
        await using var films = await StartAsync(3);
        var first = await CopiedAsync(films);
        var foreign = Path.Combine(films.Second, "blobs", "mine.txt");
        await File.WriteAllTextAsync(foreign, "mine", Token);
        var gone = films.StoredNzbs.First();
        await films.StopAsync();
        films.Execute($"DELETE FROM history_item WHERE nzb_hash = '{gone}'; DELETE FROM release WHERE nzb_hash = '{gone}'");
        await films.StartAsync((Setting, films.Second));
        var second = await CopiedAsync(films);
        var folder = new SecondFolder(films.Second, new DiskBlobFiles(), films.Host.Get<BackupProof>(), []);
        folder.Prune(5, 4, TimeProvider.System.GetUtcNow());
        Assert.Equal(3, CopiedNzbs(films).Count(path => path != foreign));

        using (var deleted = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{first}"))
            Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        using (var deleted = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{first}"))
            Assert.Equal(HttpStatusCode.NoContent, deleted.StatusCode);
        folder.Prune(5, 4, TimeProvider.System.GetUtcNow());

        Assert.DoesNotContain(CopiedNzbs(films), path => path.Contains(gone, StringComparison.Ordinal));
        Assert.True(File.Exists(foreign));
        Assert.Null(FindFlaw(films, second));
        using var refused = await films.Host.CallAsync(HttpMethod.Delete, $"backups/{first}");
        Assert.Equal(HttpStatusCode.NotFound, refused.StatusCode);
    }

    [Theory]
    [InlineData("")]
    [InlineData("backups/mine")]
    [InlineData("blobs")]
    public async Task OPS_5_Folders_of_the_data_folder_are_refused(string inside)
    {
        await using var films = await StartAsync(0);
        var path = Path.TrimEndingDirectorySeparator(Path.Combine(films.Root, inside));

        var errors = await films.Host.Get<SettingsStore>().SaveAsync(new Dictionary<string, string?> { ["backup.second-dir"] = path }, Token);

        Assert.Contains("backup.second-dir", errors.Keys);
    }

    [Fact]
    public async Task OPS_5_Same_disk_is_a_warning()
    {
        await using var films = await StartAsync(1);
        await CopiedAsync(films);

        var second = (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!;

        Assert.Contains("same disk", second["warning"]!.ToString(), StringComparison.Ordinal);
    }

    private static async Task<PublishedFilms> StartAsync(int count)
    {
        var films = await PublishedFilms.CreateAsync(count);
        Directory.CreateDirectory(films.Second);
        await films.StartAsync((Setting, films.Second));
        return films;
    }

    /// <summary>Makes a backup and waits until it is copied.</summary>
    /// <returns>Its id.</returns>
    private static async Task<string> CopiedAsync(PublishedFilms films)
    {
        var id = (await films.BackUpAsync())["id"]!.ToString();
        await films.UntilAsync(async () =>
        {
            var list = await films.Host.AskAsync(HttpMethod.Get, "backups");
            return !list["second"]!["isCopying"]!.GetValue<bool>()
                && list["items"]!.AsArray().Any(row => row!["id"]!.ToString() == id && row["place"]!.ToString() == "both");
        });
        return id;
    }

    private static Task FailsAsync(PublishedFilms films, string reason) => films.UntilAsync(async () =>
        (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]?["failure"]?.ToString().Contains(reason, StringComparison.Ordinal) == true);

    private static List<string> CopiedNzbs(PublishedFilms films) =>
        [.. Directory.GetFiles(Path.Combine(films.Second, "blobs"), "*", SearchOption.AllDirectories)];

    private static string? FindFlaw(PublishedFilms films, string id)
    {
        var folder = Path.Combine(films.Second, id);
        return films.Host.Get<BackupProof>().FindFlaw(folder, BlobPool.Beside(folder, new DiskBlobFiles()), Token);
    }

    private static byte[] Damaged(byte[] sound)
    {
        var damaged = sound.ToArray();
        damaged[damaged.Length / 2] ^= 0xFF;
        return damaged;
    }

    private static List<(string Path, long Length, DateTime At)> Snapshot(string folder) =>
    [
        .. new DirectoryInfo(folder).EnumerateFileSystemInfos("*", SearchOption.AllDirectories).OrderBy(entry => entry.FullName, StringComparer.Ordinal)
            .Select(entry => (entry.FullName, (entry as FileInfo)?.Length ?? 0, entry.LastWriteTimeUtc)),
    ];
}
