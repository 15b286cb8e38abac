using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Changes of items during their import or while they wait.</summary>
public sealed class QueueChangeTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Rename_during_import_applies_without_a_restart()
    {
        await using var mock = await MockServer.StartAsync();
        var change = new ChangeStep();
        await using var host = await ProductHost.StartAsync(_folder, mock, services => InsertBeforePublish(services, change));
        change.Change = _ => host.Get<QueueRenaming>().MoveAsync("uncategorized", "Old Name.nzb", "tv", "New Name.nzb", mayReplace: false, Token);
        // The name of the file is random, so the film is named after its release.
        var release = new MockRelease("rel", 5, [new MockFile { Name = "d41d8cd98f00b204e9800998ecf8427e.mkv", Size = 50_000, ArticleSize = 20_000 }]);

        var id = await host.AddAsync(release.ToNzb(), "Old Name.nzb", Token);
        var slot = await host.WaitForHistoryAsync(id[0], Token);

        Assert.Equal("New Name", slot.GetProperty("name").GetString());
        Assert.Equal("tv", slot.GetProperty("category").GetString());
        Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(["tv", "New Name", "New Name.mkv"], Token));
        Assert.Equal(1, change.Runs);
    }

    [Fact]
    public async Task NZB_replaced_during_import_is_published_with_new_content()
    {
        await using var mock = await MockServer.StartAsync();
        var change = new ChangeStep();
        await using var host = await ProductHost.StartAsync(_folder, mock, services => InsertBeforePublish(services, change));
        byte[] Zip(string name) =>
            NzbText.Zip(("Film.nzb", new MockRelease("rel", 5, [new MockFile { Name = name, Size = 50_000, ArticleSize = 20_000 }]).ToNzb()));
        var second = Zip("second.mkv");
        change.Change = _ => host.PutAsync("/nzbs/tv/Film.zip", second, Token);

        await host.PutAsync("/nzbs/tv/Film.zip", Zip("first.mkv"), Token);
        while (!(await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("noofslots").GetInt32().Equals(1))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);

        Assert.IsType<FileEntry>(await host.Get<LibraryTree>().FindAsync(["tv", "Film", "second.mkv"], Token));
        Assert.Null(await host.Get<LibraryTree>().FindAsync(["tv", "Film", "first.mkv"], Token));
        Assert.Equal(0, (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32());
        // The zip and its original bytes were removed together with the item.
        using var gone = await host.SendAsync(HttpMethod.Head, "/nzbs/tv/Film.zip", null, Token);
        Assert.Equal(System.Net.HttpStatusCode.NotFound, gone.StatusCode);
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs, "*.raw"));
    }

    [Fact]
    public async Task Compressed_upload_is_read_back_unchanged_after_a_restart()
    {
        var zip = NzbText.Zip(("a.nzb", NzbText.Of("a.mkv")), ("b.nzb", NzbText.Of("b.mkv")));
        await using (var host = await ProductHost.StartAsync(_folder))
            await host.PutAsync("/nzbs/tv/two.zip", zip, Token);
        foreach (var blob in Directory.GetFiles(_folder.Folder.Blobs))
            File.SetLastWriteTimeUtc(blob, new DateTime(2026, 1, 3, 0, 0, 0, DateTimeKind.Utc));

        await using var again = await ProductHost.StartAsync(_folder);
        using var answer = await again.SendAsync(HttpMethod.Get, "/nzbs/tv/two.zip", null, Token);

        Assert.Equal(zip, await answer.Content.ReadAsByteArrayAsync(Token));
    }

    [Fact]
    public async Task Item_is_imported_even_if_its_raw_upload_is_lost()
    {
        await using var mock = await MockServer.StartAsync();
        var release = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);
        await using (var host = await ProductHost.StartAsync(_folder))
            await host.PutAsync("/nzbs/tv/Film.nzb.gz", NzbText.Gzip(release.ToNzb()), Token);
        File.Delete(Assert.Single(Directory.GetFiles(_folder.Folder.Blobs, "*.raw")));

        await using var again = await ProductHost.StartAsync(_folder, mock);
        while ((await again.CallAsync("mode=history&status=Completed", Token)).GetProperty("history").GetProperty("noofslots").GetInt32() == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    [Fact]
    public async Task Import_of_a_paused_or_removed_item_does_nothing()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var paused = await host.AddAsync(NzbText.Of("a.mkv"), "A.nzb", Token, "&priority=-2");

        Assert.Equal((ImportEnd.Left, ""), await host.Get<ImportJob>().RunAsync(paused[0], Token));
        Assert.Equal((ImportEnd.Left, ""), await host.Get<ImportJob>().RunAsync("gone", Token));

        Assert.NotNull(await host.Get<QueueStore>().FindAsync(paused[0], Token));
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs, "*.ids"));
    }

    [Fact]
    public async Task Waiting_item_is_retried_once_a_provider_is_set()
    {
        await using var mock = await MockServer.StartAsync();
        await using var host = await ProductHost.StartAsync(_folder);
        var release = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);
        var id = await host.AddAsync(release.ToNzb(), "A.nzb", Token);
        await host.WaitForWaitingAsync(id[0], Token);

        var errors = await host.Get<SettingsStore>().SaveAsync(
            new Dictionary<string, string?> { ["usenet.providers"] = ProductHost.ProvidersJson(mock) }, Token);

        Assert.Empty(errors);
        Assert.False(host.Get<QueueSchedule>().IsRetrying(id[0]));
        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id[0], Token)).GetProperty("status").GetString());
    }

    [Fact]
    public async Task Retry_of_a_waiting_item_does_not_reread_the_NZB()
    {
        await using var mock = await MockServer.StartAsync();
        var files = new CountedReads();
        await using var host = await ProductHost.StartAsync(_folder, replace: services => services.AddSingleton<IBlobFiles>(files));
        var release = new MockRelease("rel", 5, [new MockFile { Name = "film.mkv", Size = 50_000, ArticleSize = 20_000 }]);
        var id = await host.AddAsync(release.ToNzb(), "A.nzb", Token);
        await host.WaitForWaitingAsync(id[0], Token);
        Assert.Equal(1, files.Nzbs);

        await host.Get<SettingsStore>().SaveAsync(
            new Dictionary<string, string?> { ["usenet.providers"] = ProductHost.ProvidersJson(mock) }, Token);

        Assert.Equal("Completed", (await host.WaitForHistoryAsync(id[0], Token)).GetProperty("status").GetString());
        Assert.Equal(1, files.Nzbs);
    }

    [Fact]
    public async Task Removed_waiting_item_leaves_no_pending_retry()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var id = await host.AddAsync(NzbText.Of("a.mkv"), "A.nzb", Token);
        await host.WaitForWaitingAsync(id[0], Token);
        var label = (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots")[0].GetProperty("labels")[0];
        Assert.Equal("WAITING", label.GetString());

        await host.Get<QueueRemoval>().RemoveAsync(id, Token);

        Assert.False(host.Get<QueueSchedule>().IsRetrying(id[0]));
    }

    private static void InsertBeforePublish(IServiceCollection services, IImportStep step) =>
        services.Insert(
            services.ToList().FindIndex(service => service.ImplementationType == typeof(Publish)),
            ServiceDescriptor.Singleton(step));

    private sealed class ChangeStep : IImportStep
    {
        public Func<string, Task>? Change { get; set; }

        public int Runs { get; private set; }

        public string Name => "Change";

        public int Weight => 10;

        public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
        {
            if (++Runs == 1 && Change is { } change)
                await change(work.Item.Id);
            return null;
        }
    }

    /// <summary>The real file system, with a count of opened NZBs.</summary>
    private sealed class CountedReads : IBlobFiles
    {
        private readonly DiskBlobFiles _disk = new();
        private int _nzbs;

        public int Nzbs => Volatile.Read(ref _nzbs);

        public FileStream OpenRead(string path)
        {
            if (path.EndsWith(".nzb.br", StringComparison.Ordinal))
                Interlocked.Increment(ref _nzbs);
            return _disk.OpenRead(path);
        }

        public Stream Create(string path) => _disk.Create(path);

        public void SyncFile(Stream file) => _disk.SyncFile(file);

        public void SyncFiles(string folder, IReadOnlyCollection<string> files) => _disk.SyncFiles(folder, files);

        public void Rename(string from, string to) => _disk.Rename(from, to);

        public void SyncFolder(string path) => _disk.SyncFolder(path);

        public void Delete(string path) => _disk.Delete(path);

        public IEnumerable<FileInfo> List(string folder) => _disk.List(folder);

        public long FreeBytes(string folder) => _disk.FreeBytes(folder);
    }
}
