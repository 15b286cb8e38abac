using System.Buffers.Binary;
using System.Text;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.Queue.Intake;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.WebDav;
using Sluice.Testing;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Server.Tests.Queue;

/// <summary>Limits of uploads, which block no other requests.</summary>
public sealed class UploadBudgetTests : IDisposable
{
    private readonly TemporaryFolder _folder = new();

    private static string Login { get; } =
        $"Authorization: Basic {Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}"))}";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Zip_bomb_with_overlapping_entries_fails_as_one_item()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        // Each entry unpacks to four times its size, and all of them together to more than a thousand times the size of the zip.
        var zip = Overlapping(NzbText.Zip(("0000.nzb", NzbText.Of([.. Enumerable.Range(0, 2000).Select(i => $"{i}.mkv")]))), 900);

        await host.AddAsync(zip, "Bomb.zip", Token, "&priority=-2");

        Assert.Equal(0, (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("noofslots_total").GetInt32());
        var slot = Assert.Single((await host.CallAsync("mode=history&limit=9", Token)).GetProperty("history").GetProperty("slots").EnumerateArray());
        Assert.Equal("Bomb", slot.GetProperty("name").GetString());
        Assert.Equal(
            "The NZB is larger than the limits allow (it unpacks to more than 200 times its size).", slot.GetProperty("fail_message").GetString());
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Slow_upload_is_aborted_after_an_hour()
    {
        var time = new ManualTimeProvider();
        await using var host = await ProductHost.StartAsync(_folder, null, services => services.AddSingleton<TimeProvider>(time));
        await using var body = new EndlessStream();
        var receiving = host.Get<NzbIntake>().ReceiveAsync(body, null, Token);

        time.Advance(TimeSpan.FromMinutes(59));
        Assert.False(receiving.IsCompleted);
        time.Advance(TimeSpan.FromMinutes(1));

        await using (var upload = await receiving)
            Assert.Equal(AddRefusal.TooSlow, upload.Refusal);
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Slow_addfile_upload_gets_408_before_it_ends()
    {
        var answer = await SendSlowlyAsync(
            $"POST /api?mode=addfile&apikey={ProductHost.Key}",
            "Content-Type: multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"name\"; filename=\"a.nzb\"\r\n\r\n<nzb></nzb>");

        Assert.Equal((408, """{"status":false,"error":"Upload took too long"}"""), (answer.Status, answer.Text));
    }

    [Fact]
    public async Task Slow_PUT_upload_gets_408_before_it_ends() =>
        Assert.Equal(408, (await SendSlowlyAsync("PUT /nzbs/tv/a.nzb", Login, "<nzb></nzb>")).Status);

    [Fact]
    public async Task Slow_staged_upload_is_aborted_after_an_hour()
    {
        var time = new ManualTimeProvider();
        await using var host = await ProductHost.StartAsync(_folder, null, services => services.AddSingleton<TimeProvider>(time));
        await using var body = new EndlessStream();
        var staging = host.Get<StagedUploads>().AddAsync("tv", "a.part", body, null, mayReplace: true, Token);

        time.Advance(TimeSpan.FromHours(1));

        Assert.Equal(StagingOutcome.TooSlow, await staging);
        Assert.Empty(Directory.GetFiles(_folder.Folder.Staged));
    }

    [Fact]
    public async Task Blob_is_deleted_with_its_item_during_another_upload()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var ids = await host.AddAsync(NzbText.Of("a.mkv"), "a.nzb", Token, "&priority=-2");
        await using var slow = await RawConnection.OpenAsync(host.Client.BaseAddress!);
        await slow.SendAsync("PUT /nzbs/tv/slow.nzb", [Login, "Content-Length: 1000"], "<nzb>");
        await ReceivesAsync();

        await host.CallAsync($"mode=queue&name=delete&value={ids[0]}", Token);

        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));
    }

    [Fact]
    public async Task Slow_file_deletion_blocks_no_other_write()
    {
        using var files = new HeldDeletes();
        await using var host = await ProductHost.StartAsync(_folder, null, services => services.AddSingleton<IBlobFiles>(files));
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
        limit.CancelAfter(TimeSpan.FromSeconds(30));
        await host.PutAsync("/nzbs/tv/a.zip", NzbText.Zip(("a.nzb", NzbText.Of("a.mkv"))), limit.Token);
        await host.PutAsync("/nzbs/tv/a.part", [1], limit.Token);
        files.Hold();
        try
        {
            var deleting = host.SendAsync(HttpMethod.Delete, "/nzbs/tv/a.zip", null, Token);
            await files.Reached(".raw").WaitAsync(limit.Token);
            var replacing = host.PutAsync("/nzbs/tv/a.part", [2], Token);
            await files.Reached(".upload").WaitAsync(limit.Token);

            await host.PutAsync("/nzbs/tv/b.nzb", NzbText.Of("b.mkv"), limit.Token);
            await host.PutAsync("/nzbs/tv/b.part", [3], limit.Token);

            files.Release();
            await Task.WhenAll(deleting, replacing);
        }
        finally
        {
            files.Release();
        }

        Assert.Single(Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br"));
        Assert.Equal(2, Directory.GetFiles(_folder.Folder.Staged).Length);
    }

    /// <summary>Sends the start of a body, and then nothing for an hour.</summary>
    private async Task<RawAnswer> SendSlowlyAsync(string requestLine, string header, string start)
    {
        var time = new ManualTimeProvider();
        await using var host = await ProductHost.StartAsync(_folder, null, services => services.AddSingleton<TimeProvider>(time));
        await using var slow = await RawConnection.OpenAsync(host.Client.BaseAddress!);
        await slow.SendAsync(requestLine, [header, "Content-Length: 1000"], start);
        await ReceivesAsync();

        time.Advance(TimeSpan.FromHours(1));

        var answer = await slow.ReadAnswerAsync(isHead: false);
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
        return answer;
    }

    /// <summary>Waits until the server writes the content of an upload.</summary>
    private async Task ReceivesAsync()
    {
        while (Directory.GetFiles(_folder.Folder.Blobs, "*.tmp").Length == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, Token);
    }

    /// <summary>Returns the same zip with many entries for its only member.</summary>
    private static byte[] Overlapping(byte[] zip, int entries)
    {
        var directory = zip.AsSpan().LastIndexOf("PK\u0001\u0002"u8);
        var end = zip.AsSpan().LastIndexOf("PK\u0005\u0006"u8);
        var entry = zip[directory..end];
        var result = new List<byte>(zip[..directory]);
        for (var i = 0; i < entries; i++)
        {
            // APPNOTE.TXT 4.3.12: the name follows 46 bytes.
            Encoding.ASCII.GetBytes(i.ToString("0000", System.Globalization.CultureInfo.InvariantCulture)).CopyTo(entry.AsSpan(46));
            result.AddRange(entry);
        }

        var record = zip[end..];
        BinaryPrimitives.WriteUInt16LittleEndian(record.AsSpan(8), (ushort)entries);
        BinaryPrimitives.WriteUInt16LittleEndian(record.AsSpan(10), (ushort)entries);
        BinaryPrimitives.WriteUInt32LittleEndian(record.AsSpan(12), (uint)(entries * entry.Length));
        return [.. result, .. record];
    }

    /// <summary>Returns a few bytes and then blocks forever.</summary>
    private sealed class EndlessStream : ForwardStream
    {
        private bool _isBegun;

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (_isBegun)
                await new TaskCompletionSource().Task.WaitAsync(cancellationToken);
            _isBegun = true;
            "<nzb"u8.CopyTo(buffer.Span);
            return 4;
        }
    }

    /// <summary>The real file system, with a switch that blocks the removal of files.</summary>
    private sealed class HeldDeletes : IBlobFiles, IDisposable
    {
        private readonly DiskBlobFiles _disk = new();
        private readonly ManualResetEventSlim _free = new(initialState: true);
        private readonly Dictionary<string, TaskCompletionSource> _reached = new()
        {
            [".raw"] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously),
            [".upload"] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously),
        };

        public void Hold() => _free.Reset();

        public void Release() => _free.Set();

        /// <summary>Completes before a file with this suffix is removed.</summary>
        public Task Reached(string suffix) => _reached[suffix].Task;

        public void Delete(string path)
        {
            if (!_free.IsSet && _reached.FirstOrDefault(kind => path.EndsWith(kind.Key, StringComparison.Ordinal)).Value is { } reached)
            {
                reached.TrySetResult();
                _free.Wait(Token);
            }

            _disk.Delete(path);
        }

        public Stream Create(string path) => _disk.Create(path);

        public void SyncFile(Stream file) => _disk.SyncFile(file);

        public void SyncFiles(string folder, IReadOnlyCollection<string> files) => _disk.SyncFiles(folder, files);

        public void Rename(string from, string to) => _disk.Rename(from, to);

        public void SyncFolder(string path) => _disk.SyncFolder(path);

        public FileStream OpenRead(string path) => _disk.OpenRead(path);

        public IEnumerable<FileInfo> List(string folder) => _disk.List(folder);

        public long FreeBytes(string folder) => _disk.FreeBytes(folder);

        public void Dispose() => _free.Dispose();
    }
}
