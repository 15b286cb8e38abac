using System.Collections.Concurrent;
using System.Net;
using Dapper;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>The write order of IMP-2 as calls of the file system, because killing the process does not reveal a missing fsync.</summary>
public sealed class DurabilityTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Add_syncs_blob_then_row_before_the_response()
    {
        var files = new WatchedBlobFiles(_folder);
        await using var host = await ProductHost.StartAsync(_folder, null, Use(files));
        files.Events.Clear();

        await host.AddAsync(NzbText.Of("a.mkv"), "Rel.nzb", Token);
        files.Note("answered");
        string[] events = [.. files.Events];

        var hash = (await host.Get<QueueStore>().StreamAsync(new QueueFilter(), 0, 0, Token).FirstAsync(Token)).NzbHash;
        Assert.Equal(
            [
                "create tmp: 0 rows",
                "fsync tmp: 0 rows",
                $"rename tmp {hash}.nzb.br: 0 rows",
                "fsync blobs: 0 rows",
                "answered: 1 rows",
            ],
            events.Take(4).Append(events.Single(call => call.StartsWith("answered", StringComparison.Ordinal))));
        Assert.Equal(2, await host.Get<SluiceDatabase>().WriteAsync(connection => connection.ExecuteScalar<int>("PRAGMA synchronous"), Token));
    }

    [Fact]
    public async Task First_staged_upload_syncs_its_folder_before_the_response()
    {
        var files = new RecordingBlobFiles();
        await using var host = await ProductHost.StartAsync(_folder, null, Use(files));

        await host.PutAsync("/nzbs/tv/a.nzb.part", NzbText.Of("a.mkv"), Token);
        await host.PutAsync("/nzbs/tv/b.nzb.part", NzbText.Of("a.mkv"), Token);

        var root = Path.GetFileName(_folder.Root);
        Assert.Equal(
            [$"fsync {root}", "create tmp", "write tmp", "fsync tmp", "rename tmp", "fsync staged", "create tmp", "write tmp", "fsync tmp", "rename tmp", "fsync staged"],
            files.Calls.Select(call => call.StartsWith("rename tmp", StringComparison.Ordinal) ? "rename tmp" : call));
    }

    [Theory]
    [InlineData("create")]
    [InlineData("fsync tmp")]
    [InlineData("rename")]
    [InlineData("fsync blobs")]
    public async Task Full_disk_at_any_step_refuses_and_leaves_no_row(string step)
    {
        var files = new RecordingBlobFiles();
        await using var host = await ProductHost.StartAsync(_folder, null, Use(files));
        files.FailAt = (step, new IOException("No space left on device", 28));

        using var answer = await host.PostFileAsync(NzbText.Of("a.mkv"), "Rel.nzb", "", Token);

        Assert.Equal((HttpStatusCode.OK, """{"status":false,"error":"Disk is full"}"""), (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token)));
        Assert.Equal(0, (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32());
        Assert.Equal(0, (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32());

        files.FailAt = null;
        await host.AddAsync(NzbText.Of("a.mkv"), "Rel.nzb", Token);
    }

    [Fact]
    public async Task Low_disk_space_refuses_before_anything_is_written()
    {
        var files = new RecordingBlobFiles { Free = 64 << 20 };
        await using var host = await ProductHost.StartAsync(_folder, null, Use(files));

        using var answer = await host.PostFileAsync(NzbText.Of("a.mkv"), "Rel.nzb", "", Token);

        Assert.Equal("""{"status":false,"error":"Disk is full"}""", await answer.Content.ReadAsStringAsync(Token));
        Assert.Empty(files.Calls);
    }

    [Fact]
    public async Task Concurrent_adds_are_each_stored_once()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var ids = new ConcurrentBag<string>();

        await Parallel.ForAsync(0, 40, new ParallelOptions { MaxDegreeOfParallelism = 8, CancellationToken = Token }, async (i, token) =>
        {
            foreach (var id in await host.AddAsync(NzbText.Of("a.mkv"), $"Rel {i % 5}.nzb", token))
                ids.Add(id);
        });

        var items = await host.Get<QueueStore>().StreamAsync(new QueueFilter(), 0, 0, Token).ToListAsync(Token);
        Assert.Equal(ids.Order(), items.Select(item => item.Id).Order());
        Assert.Equal(["Rel 0", "Rel 1", "Rel 2", "Rel 3", "Rel 4"], items.Select(item => item.Name).Distinct().Order());
        Assert.Equal(40, await host.Get<QueueFileStore>().ListAsync("uncategorized", Token).CountAsync(Token));
        Assert.Equal(40, Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br").Length);
    }

    [Fact]
    public async Task NZB_is_kept_if_an_identical_one_is_removed_during_the_add()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var nzb = NzbText.Of("a.mkv");
        var twin = await host.AddAsync(nzb, "Twin.nzb", Token);
        var intake = host.Get<NzbIntake>();

        await using (var upload = await intake.ReceiveAsync(new MemoryStream(nzb), nzb.Length, Token))
        {
            await host.Get<QueueRemoval>().RemoveAsync(twin, Token);
            await intake.AcceptAsync(upload, new NzbAddition { FileName = "Other.nzb" }, Token);
        }

        Assert.Single(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));
    }

    [Fact]
    public async Task Upload_received_but_never_queued_leaves_no_file()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var nzb = NzbText.Of("a.mkv");

        await using (await host.Get<NzbIntake>().ReceiveAsync(new MemoryStream(nzb), nzb.Length, Token))
            Assert.Single(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));

        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    private static Action<IServiceCollection> Use(IBlobFiles files) => services => services.AddSingleton(files);

    /// <summary>Records each call with the number of rows committed at that moment.</summary>
    private sealed class WatchedBlobFiles(TemporaryFolder folder) : IBlobFiles
    {
        private readonly DiskBlobFiles _disk = new();

        public ConcurrentQueue<string> Events { get; } = new();

        public Stream Create(string path)
        {
            Note("create tmp");
            return _disk.Create(path);
        }

        public void SyncFile(Stream file)
        {
            _disk.SyncFile(file);
            Note("fsync tmp");
        }

        public void SyncFiles(string folder, IReadOnlyCollection<string> files) => _disk.SyncFiles(folder, files);

        public void Rename(string from, string to)
        {
            _disk.Rename(from, to);
            Note($"rename tmp {Path.GetFileName(to)}");
        }

        public void SyncFolder(string path)
        {
            _disk.SyncFolder(path);
            Note($"fsync {Path.GetFileName(path)}");
        }

        public FileStream OpenRead(string path) => _disk.OpenRead(path);

        public void Delete(string path) => _disk.Delete(path);

        public IEnumerable<FileInfo> List(string path) => _disk.List(path);

        public long FreeBytes(string path) => _disk.FreeBytes(path);

        public void Note(string call)
        {
            using var connection = new SqliteConnection($"Data Source={folder.Folder.Database};Mode=ReadOnly;Pooling=False");
            connection.Open();
            var rows = connection.ExecuteScalar<int>("SELECT count(*) FROM queue_item");
            Events.Enqueue($"{call}: {rows} rows");
        }
    }
}
