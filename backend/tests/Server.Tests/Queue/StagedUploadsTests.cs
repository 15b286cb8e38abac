using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Server.Database;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class StagedUploadsTests : IDisposable
{
    private const int Longest = 1 << 20;

    private readonly TemporaryFolder _temporary = new();
    private readonly RecordingBlobFiles _files = new();
    private readonly ManualTimeProvider _time = new();
    private readonly List<StagedUploads> _made = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string[] Files => Directory.Exists(_temporary.Folder.Staged) ? Directory.GetFiles(_temporary.Folder.Staged) : [];

    public void Dispose()
    {
        foreach (var uploads in _made)
            uploads.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public async Task Staged_upload_is_deleted_after_an_hour()
    {
        var uploads = await StartAsync();
        Assert.Equal(StagingOutcome.Created, await AddAsync(uploads, "a.part", 5));

        _time.Advance(TimeSpan.FromHours(1) - TimeSpan.FromTicks(1));
        Assert.NotNull(uploads.Find("tv", "a.part"));
        _time.Advance(TimeSpan.FromTicks(1));

        Assert.Null(uploads.Find("tv", "a.part"));
        Assert.Empty(uploads.List());
        Assert.Empty(Files);
    }

    [Fact]
    public async Task Staged_upload_is_synced_to_disk_with_its_folder()
    {
        var uploads = await StartAsync();
        await AddAsync(uploads, "a.part", 5);

        // The first upload creates the folder, so its parent is synced too.
        Assert.Equal(
            [$"fsync {Path.GetFileName(_temporary.Root)}", "create tmp", "write tmp", "fsync tmp", $"rename tmp {Path.GetFileName(Assert.Single(Files))}", "fsync staged"],
            _files.Calls);
    }

    [Fact]
    public async Task Upload_replaces_one_of_the_same_name_if_allowed()
    {
        var uploads = await StartAsync();
        await AddAsync(uploads, "a.part", 5);
        var first = uploads.Find("tv", "a.part")!;

        Assert.Equal(StagingOutcome.Taken, await AddAsync(uploads, "a.part", 6, mayReplace: false));
        Assert.Equal(5, uploads.Find("tv", "a.part")!.Length);
        Assert.Equal(StagingOutcome.Replaced, await AddAsync(uploads, "a.part", 7));

        Assert.False(uploads.Remove(first));
        Assert.Null(uploads.Open(first, 0));
        Assert.Equal(7, uploads.Find("tv", "a.part")!.Length);
        Assert.Single(Files);
        Assert.True(uploads.Remove(uploads.Find("tv", "a.part")!));
        Assert.Empty(Files);
        Assert.Equal(0, _time.Waiting);
    }

    [Fact]
    public async Task Uploads_survive_a_restart_for_the_rest_of_their_hour()
    {
        var before = await StartAsync();
        await AddAsync(before, "a.part", 5);
        await AddAsync(before, "\u00e9 \"<\n\u4e2d~", 0);
        before.Dispose();
        foreach (var file in Files)
            File.SetLastWriteTimeUtc(file, _time.GetUtcNow().UtcDateTime);
        var foreign = Path.Combine(_temporary.Folder.Staged, "notes.upload");
        await File.WriteAllTextAsync(foreign, "mine\n", Token);
        await File.WriteAllTextAsync(Path.Combine(_temporary.Folder.Staged, "half.tmp"), "", Token);

        _time.Advance(TimeSpan.FromMinutes(59));
        var after = await StartAsync();

        var upload = after.Find("tv", "a.part")!;
        await using (var bytes = after.Open(upload, 2)!)
            Assert.Equal([2, 3, 4], await ReadAsync(bytes));
        Assert.Equal(0, after.Find("tv", "\u00e9 \"<\n\u4e2d~")!.Length);
        _time.Advance(TimeSpan.FromMinutes(1));
        Assert.Empty(after.List());
        Assert.Equal([foreign], Files);
    }

    [Fact]
    public async Task Upload_expired_during_downtime_is_deleted_at_startup()
    {
        var before = await StartAsync();
        await AddAsync(before, "a.part", 5);
        before.Dispose();
        File.SetLastWriteTimeUtc(Assert.Single(Files), _time.GetUtcNow().UtcDateTime);
        _time.Advance(TimeSpan.FromHours(1));

        Assert.Empty((await StartAsync()).List());
        Assert.Empty(Files);
    }

    [Fact]
    public async Task Upload_above_the_count_limit_is_refused()
    {
        var uploads = await StartAsync();
        for (var i = 0; i < StagedUploads.MaxUploads; i++)
            Assert.Equal(StagingOutcome.Created, await AddAsync(uploads, $"{i}.part", 1));

        Assert.Equal(StagingOutcome.NoRoom, await AddAsync(uploads, "more.part", 1));
        Assert.NotNull(uploads.Find("tv", "0.part"));
        uploads.Remove(uploads.Find("tv", "7.part")!);
        Assert.Equal(StagingOutcome.Created, await AddAsync(uploads, "more.part", 1));
    }

    [Theory]
    [InlineData(Longest, false)]
    [InlineData(Longest - 1, true)]
    public async Task Byte_limit_includes_uploads_in_progress(int last, bool fits)
    {
        var uploads = await StartAsync();
        await AddAsync(uploads, "1.part", Longest);
        await AddAsync(uploads, "2.part", 1);
        // The length is unknown, so the maximum is reserved; the pipe has no bytes yet.
        using var cancel = new CancellationTokenSource();
        var pipe = new System.IO.Pipelines.Pipe();
        var arriving = uploads.AddAsync("tv", "3.part", pipe.Reader.AsStream(), null, mayReplace: true, cancel.Token);
        await AddAsync(uploads, "4.part", Longest);

        Assert.Equal(fits ? StagingOutcome.Created : StagingOutcome.NoRoom, await AddAsync(uploads, "5.part", last));

        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => arriving);
        Assert.Null(uploads.Find("tv", "3.part"));
        Assert.Equal(StagingOutcome.Created, await AddAsync(uploads, "6.part", Longest - 1));
    }

    [Fact]
    public async Task Full_disk_refuses_the_upload_and_leaves_no_file()
    {
        var uploads = await StartAsync();

        _files.Free = 64L << 20;
        Assert.Equal(StagingOutcome.NoRoom, await AddAsync(uploads, "a.part", 1));
        _files.Free = null;
        _files.FailAt = ("write", new IOException("No space left on device", 28));
        Assert.Equal(StagingOutcome.NoRoom, await AddAsync(uploads, "a.part", 1));

        Assert.Empty(Files);
        Assert.Null(uploads.Find("tv", "a.part"));
    }

    private async Task<StagedUploads> StartAsync()
    {
        var uploads = new StagedUploads(
            new StagingFolder(_temporary.Folder, _files, _time),
            new BlobStore(_temporary.Folder, _files, new BlobQuarantine(_temporary.Folder, _time), _time),
            ProcessOptions.Read(new ProcessEnvironment(new Dictionary<string, string> { ["MAX_REQUEST_BODY_SIZE"] = $"{Longest}" })),
            _time,
            NullLogger<StagedUploads>.Instance);
        await uploads.PrepareAsync(Token);
        _made.Add(uploads);
        return uploads;
    }

    private static async Task<StagingOutcome> AddAsync(StagedUploads uploads, string name, int length, bool mayReplace = true)
    {
        using var body = new MemoryStream([.. Enumerable.Range(0, length).Select(i => (byte)i)]);
        return await uploads.AddAsync("tv", name, body, length, mayReplace, Token);
    }

    private static async Task<byte[]> ReadAsync(Stream stream)
    {
        using var copy = new MemoryStream();
        await stream.CopyToAsync(copy, Token);
        return copy.ToArray();
    }
}
