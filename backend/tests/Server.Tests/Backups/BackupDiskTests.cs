using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.Backups;

/// <summary>A full or failing disk during a backup, a copy or a restore costs no sound backup and no database (OPS-95).</summary>
public sealed class BackupDiskTests
{
    private const string Setting = "SLUICE_CONFIG__BACKUP__SECOND_DIR";
    private const int DiskBytes = 80 << 20;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(28)]
    [InlineData(5)]
    public async Task OPS_95_Fault_at_any_step_of_a_copy_leaves_sound_copies(int errno)
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        await films.StartAsync();
        var first = await MadeAsync(films);
        await films.AddAsync(1);
        var second = await MadeAsync(films);
        var originals = films.Host.Get<BlobStore>();

        var isReached = true;
        for (var step = 1; isReached; step++)
        {
            var faulty = new FaultyStorage { FailAt = step, Errno = errno };
            var path = Directory.CreateDirectory(Path.Combine(films.Second, $"{errno}-{step}")).FullName;
            FolderAt(films, path, new DiskBlobFiles()).Copy(first, originals, Token);
            var fault = Record.Exception(() => FolderAt(films, path, faulty).Copy(second, originals, Token));

            isReached = faulty.HasFailed;
            Assert.True(fault is StorageException == isReached, $"step {step}: {fault}");
            AssertSound(films, path, isReached ? 1 : 2);
            if (isReached)
                FolderAt(films, path, new DiskBlobFiles()).Copy(second, originals, Token);
            AssertSound(films, path, 2);
        }
    }

    [Theory]
    [InlineData(28)]
    [InlineData(5)]
    public async Task OPS_95_Fault_at_any_step_of_restoring_nzbs_loses_none(int errno)
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        await films.StartAsync();
        var pool = BlobPool.In(films.Second, new DiskBlobFiles());
        Directory.CreateDirectory(films.Second);
        var made = FolderAt(films, films.Second, new DiskBlobFiles()).Copy(await MadeAsync(films), films.Host.Get<BlobStore>(), Token).Made;

        var isReached = true;
        for (var step = 1; isReached; step++)
        {
            using var empty = new TemporaryFolder();
            var faulty = new FaultyStorage { FailAt = step, Errno = errno };
            var fault = await Record.ExceptionAsync(() => ReturnAsync(empty.Folder, faulty));
            isReached = faulty.HasFailed;
            Assert.True(fault is StorageException == isReached, $"step {step}: {fault}");
            await ReturnAsync(empty.Folder, new DiskBlobFiles());
            var proof = films.Host.Get<BackupProof>();
            Assert.Null(proof.FindFlaw(made.Path, StoreAt(empty.Folder, new DiskBlobFiles()), Token));
        }

        async Task ReturnAsync(DataFolder folder, IBlobFiles files) =>
            Assert.Null(await new NzbReturn(pool, StoreAt(folder, files), films.Host.GetAll<BlobReference>()).RunAsync(made.Path, Token));
    }

    [Fact]
    public async Task OPS_95_Full_second_folder_is_reported_and_recovers()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        Directory.CreateDirectory(films.Second);
        using var disk = await SmallDisk.MountAsync(films.Second, DiskBytes, Token);
        await films.StartAsync((Setting, films.Second));
        disk.Fill();

        await films.BackUpAsync();
        await films.UntilAsync(async () =>
            (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!["failure"]?.ToString().Contains("its disk is full", StringComparison.Ordinal) == true);
        Assert.Single((await films.Host.AskAsync(HttpMethod.Get, "backups"))["items"]!.AsArray());

        disk.Free();
        await films.BackUpAsync();
        await films.UntilAsync(async () => (await films.Host.AskAsync(HttpMethod.Get, "backups"))["second"]!["count"]!.GetValue<int>() == 1);
        AssertSound(films, films.Second, 1);
    }

    [Fact]
    public async Task OPS_95_Full_data_disk_fails_backup_and_restore_only()
    {
        await using var films = await PublishedFilms.CreateAsync(0);
        using var disk = await SmallDisk.MountAsync(films.Root, DiskBytes, Token);
        await films.StartAsync();
        await films.AddAsync(2);
        var made = await MadeAsync(films);
        films.Host.Get<RestorePlan>().Request(made, "test", requeue: false);
        disk.Fill(freeBlocks: 4);

        var fault = Assert.Throws<StorageException>(() => films.Host.Get<BackupMaker>().Make(BackupKind.Manual, Token));
        Assert.Equal(StorageFault.Full, fault.Fault);
        await films.StopAsync();
        await films.StartAsync();

        Assert.False(File.Exists(Path.Combine(films.Root, "restore.json")));
        Assert.Contains(films.Log, line => line.Contains("Could not restore", StringComparison.Ordinal));
        await films.AssertPlayAsync();
        Assert.False(await films.IsSafeModeAsync());
        disk.Free();
        AssertSound(films, Path.Combine(films.Root, "backups"), 1);
    }

    private static async Task<Backup> MadeAsync(PublishedFilms films) =>
        films.Host.Get<BackupFolder>().Find((await films.BackUpAsync())["id"]!.ToString())!;

    private static SecondFolder FolderAt(PublishedFilms films, string path, IBlobFiles files) =>
        new(path, files, films.Host.Get<BackupProof>(), films.Host.GetAll<BlobReference>());

    private static BlobStore StoreAt(DataFolder folder, IBlobFiles files) =>
        new(folder, files, new BlobQuarantine(folder, TimeProvider.System), TimeProvider.System);

    private static void AssertSound(PublishedFilms films, string path, int count)
    {
        var all = new BackupFolder(path).List();
        Assert.Equal(count, all.Count);
        Assert.All(
            all,
            backup => Assert.Null(films.Host.Get<BackupProof>().FindFlaw(
                backup.Path, BlobPool.Beside(backup.Path, new DiskBlobFiles()) ?? (IBlobSource)films.Host.Get<BlobStore>(), Token)));
    }
}
