using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>The watch folder (IMP-7), with a manual clock.</summary>
public sealed class WatchFolderTests : IDisposable
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly TemporaryFolder _folder = new();
    private readonly TemporaryFolder _files = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Watched => Directory.CreateDirectory(Path.Combine(_files.Root, "watched")).FullName;

    public void Dispose()
    {
        _folder.Dispose();
        _files.Dispose();
    }

    [Fact]
    public async Task File_unchanged_for_five_seconds_is_added_and_removed()
    {
        await using var host = await StartAsync();
        var began = _time.GetTimestamp();
        var path = Write("Some.Release.nzb", NzbText.Of("a.mkv"));

        await UntilAsync(() => !File.Exists(path));

        Assert.True(_time.GetElapsedTime(began) >= WatchFolderWorker.QuietTime);
        var item = Assert.Single(await ItemsAsync(host));
        Assert.Equal(("Some.Release", "*", "uncategorized"), (item.Name, item.Category, item.Folder));
    }

    [Fact]
    public async Task Changing_file_is_left_until_it_is_complete()
    {
        await using var host = await StartAsync();
        var nzb = NzbText.Of([.. Enumerable.Range(0, 20).Select(i => $"{i}.mkv")]);
        var path = Path.Combine(Watched, "Slow.nzb");
        for (var i = 1; i <= 10; i++)
        {
            File.WriteAllBytes(path, nzb[..(nzb.Length * i / 10)]);
            // Two scans see each length, but not for as long as a file must stay unchanged.
            for (var second = 0; second < 4; second++)
                await StepAsync();
            Assert.Empty(await ItemsAsync(host));
        }

        await UntilAsync(() => !File.Exists(path));

        Assert.Equal(nzb.Length, Assert.Single(await ItemsAsync(host)).NzbLength);
    }

    [Fact]
    public async Task Every_NZB_format_is_added_with_its_folder_as_category()
    {
        await using var host = await StartAsync();
        var nzb = NzbText.Of("a.mkv");
        List<string> taken =
        [
            Write("A.nzb", nzb), Write("B.NZB.gz", NzbText.Gzip(nzb)), Write("C.nzb.bz2", NzbText.Bzip2(nzb)),
            Write("tv/D.nzb", nzb), Write("Movies/E {{pw}}.nzb", nzb), Write("F.zip", NzbText.Zip(("One.nzb", NzbText.Of("b.mkv")), ("Two.nzb", NzbText.Of("c.mkv")))),
        ];

        await UntilAsync(() => !taken.Exists(File.Exists));

        Assert.Equal(
            ["A *", "B *", "C *", "D tv", "E movies", "One *", "Two *"],
            (await ItemsAsync(host)).Select(item => $"{item.Name} {item.Category}").Order(StringComparer.Ordinal));
    }

    [Fact]
    public async Task Links_and_unsuitable_files_are_left_alone()
    {
        await using var host = await StartAsync();
        var nzb = NzbText.Of("a.mkv");
        var elsewhere = Path.Combine(_files.Root, "elsewhere.nzb");
        File.WriteAllBytes(elsewhere, nzb);
        Directory.CreateDirectory(Path.Combine(_files.Root, "elsewhere"));
        File.WriteAllBytes(Path.Combine(_files.Root, "elsewhere", "x.nzb"), nzb);
        File.CreateSymbolicLink(Path.Combine(Watched, "link.nzb"), elsewhere);
        Directory.CreateSymbolicLink(Path.Combine(Watched, "tv"), Path.Combine(_files.Root, "elsewhere"));
        Directory.CreateDirectory(Path.Combine(Watched, "folder.nzb"));
        List<string> left = [Write("a.nzb.part", nzb), Write(".b.nzb", nzb), Write("c.txt", nzb), Write("other/d.nzb", nzb), Write("movies/deep/e.nzb", nzb), Write("empty.nzb", [])];

        var last = Write("last.nzb", nzb);
        await UntilAsync(() => !File.Exists(last));
        for (var second = 0; second < 12; second++)
            await StepAsync();

        Assert.Equal("last", Assert.Single(await ItemsAsync(host)).Name);
        Assert.All(left.Append(elsewhere), path => Assert.True(File.Exists(path), path));
        Assert.True(Path.Exists(Path.Combine(Watched, "link.nzb")));
    }

    [Fact]
    public async Task Invalid_NZB_is_added_and_listed_as_failed_in_history()
    {
        await using var host = await StartAsync();
        var path = Write("odd.nzb", "hello"u8.ToArray());

        await UntilAsync(() => !File.Exists(path));
        // The file is removed once its item is stored, and the import runs later.
        JsonElement slots;
        while ((slots = (await host.CallAsync("mode=history", Token)).GetProperty("history").GetProperty("slots")).GetArrayLength() == 0)
            await StepAsync();

        var slot = slots[0];
        Assert.Equal(("odd", "The file is not an NZB (text)."), (slot.GetProperty("name").GetString(), slot.GetProperty("fail_message").GetString()));
    }

    [Fact]
    public async Task Full_queue_leaves_the_file_for_later()
    {
        await using var host = await StartAsync(("SLUICE_CONFIG__QUEUE__MAX_ITEMS", "1"));
        var (first, second) = (Write("1.nzb", NzbText.Of("a.mkv")), Write("2.nzb", NzbText.Of("b.mkv")));
        await UntilAsync(() => !File.Exists(first));
        for (var step = 0; step < 12; step++)
            await StepAsync();

        Assert.True(File.Exists(second));
        await host.Get<QueueRemoval>().RemoveAsync([Assert.Single(await ItemsAsync(host)).Id], Token);
        await UntilAsync(() => !File.Exists(second));

        Assert.Equal("2", Assert.Single(await ItemsAsync(host)).Name);
    }

    [Fact]
    public async Task File_already_added_before_a_restart_is_only_removed()
    {
        var path = Write("Again.nzb", NzbText.Of("a.mkv"));
        var file = new FileInfo(path);
        await using (var database = _folder.OpenDatabase())
            await database.InsertAsync(WatchedFileStore.Insert, new WatchedFile(path, file.Length, file.LastWriteTimeUtc.Ticks));
        await using var host = await StartAsync();

        await UntilAsync(() => !File.Exists(path));

        Assert.Empty(await ItemsAsync(host));
        var remembered = host.Get<WatchedFileStore>();
        await UntilAsync(() => remembered.ListAsync(Token).GetAwaiter().GetResult().Count == 0);
        Write("Again.nzb", NzbText.Of("b.mkv"));
        await UntilAsync(() => !File.Exists(path));
        Assert.Single(await ItemsAsync(host));
    }

    [Fact]
    public async Task Watched_now_call_scans_the_folder_immediately()
    {
        await using var host = await StartAsync();

        Assert.Equal("""{"status":true}""", (await host.CallAsync("mode=watched_now", Token)).ToString());

        var path = Write("Now.nzb", NzbText.Of("a.mkv"));
        while (File.Exists(path))
        {
            // Half of the time between two scans; each call triggers a scan early.
            _time.Advance(Second * 2);
            await host.CallAsync("mode=watched_now", Token);
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
        }

        Assert.Single(await ItemsAsync(host));
    }

    [Fact]
    public async Task Missing_watch_folder_is_used_once_created()
    {
        var later = Path.Combine(_files.Root, "later");
        await using var host = await ProductHost.StartAsync(
            _folder, null, services => services.AddSingleton<TimeProvider>(_time), ("SLUICE_CONFIG__QUEUE__WATCH_DIR", later));
        for (var second = 0; second < 6; second++)
            await StepAsync();

        Directory.CreateDirectory(later);
        var path = Path.Combine(later, "x.nzb");
        File.WriteAllBytes(path, NzbText.Of("a.mkv"));
        await UntilAsync(() => !File.Exists(path));

        Assert.Single(await ItemsAsync(host));
    }

    [Fact]
    public void IsPlainFile_is_false_for_links_folders_and_devices()
    {
        var path = Write("x.nzb", [1]);
        var link = Path.Combine(Watched, "y.nzb");
        File.CreateSymbolicLink(link, path);

        Assert.True(PosixCalls.IsPlainFile(path));
        Assert.False(PosixCalls.IsPlainFile(link));
        Assert.False(PosixCalls.IsPlainFile(Watched));
        Assert.False(PosixCalls.IsPlainFile("/dev/null"));
        Assert.False(PosixCalls.IsPlainFile(path + "z"));
        Assert.Equal(PosixCalls.RealPath(path), PosixCalls.RealPath(link));
        Assert.Null(PosixCalls.RealPath(path + "z"));
    }

    private string Write(string name, byte[] content)
    {
        var path = Path.Combine(Watched, name);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllBytes(path, content);
        return path;
    }

    private Task<ProductHost> StartAsync(params (string, string)[] settings) => ProductHost.StartAsync(
        _folder, null, services => services.AddSingleton<TimeProvider>(_time), [("SLUICE_CONFIG__QUEUE__WATCH_DIR", Watched), .. settings]);

    private static Task<List<QueueItem>> ItemsAsync(ProductHost host) =>
        host.Get<QueueStore>().StreamAsync(new QueueFilter(), 0, 0, Token).ToListAsync(Token).AsTask();

    /// <summary>Advances the clock by a second and gives the worker time to scan.</summary>
    private async Task StepAsync()
    {
        _time.Advance(Second);
        await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
    }

    private async Task UntilAsync(Func<bool> isSo)
    {
        while (!isSo())
            await StepAsync();
    }
}
