using System.Buffers;
using System.IO.Pipelines;
using Sluice.Server.WebDav;
using Sluice.Server.WebDav.Content;
using Sluice.Testing;
using Sluice.Testing.WebDav;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Copying the bytes of a file into the pipe of a response.</summary>
public sealed class FileBodyTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Buffer_size_follows_the_read_size()
    {
        var content = new byte[2 << 20];
        Random.Shared.NextBytes(content);
        var fast = new RecordingPipeWriter();
        var slow = new RecordingPipeWriter();

        Assert.True(await CopyAsync(new MemoryStream(content), content.Length, fast));
        Assert.True(await CopyAsync(new TricklingStream(content, 1500), content.Length, slow));

        Assert.Equal(content, fast.Written);
        Assert.Equal(content, slow.Written);
        Assert.Equal(256 * 1024, fast.LargestHint);
        Assert.Equal(4 * 1024, slow.LargestHint);
    }

    [Theory]
    [InlineData(1 << 20, 64 << 10)]
    [InlineData(2 << 20, 256 << 10)]
    public async Task First_megabyte_is_written_at_most_64_KiB_at_a_time(int length, int largest)
    {
        var output = new RecordingPipeWriter();

        Assert.True(await CopyAsync(new MemoryStream(new byte[length]), length, output));

        Assert.Equal(largest, output.LargestHint);
    }

    [Fact]
    public async Task Each_read_is_flushed_before_the_next_one()
    {
        var output = new RecordingPipeWriter();

        await CopyAsync(new TricklingStream(new byte[10_000], 1000), 10_000, output);

        Assert.Equal(10, output.Flushes);
        Assert.Equal(1000, output.MostUnflushed);
    }

    [Fact]
    public async Task Copy_reads_nothing_past_the_range()
    {
        var stream = new TricklingStream(new byte[1000], 256);
        var output = new RecordingPipeWriter();

        await CopyAsync(stream, 600, output);

        Assert.Equal(600, stream.Given);
        Assert.Equal(600, output.Written.Length);
    }

    [Fact]
    public async Task Copy_stops_when_the_client_disconnects()
    {
        var output = new RecordingPipeWriter { IsReaderGone = true };

        Assert.False(await CopyAsync(new TricklingStream(new byte[1000], 10), 1000, output));
        Assert.Equal(1, output.Flushes);
    }

    /// <summary>A bandwidth limit slows down a body, but never makes it unavailable (STR-14).</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Bandwidth_wait_does_not_count_as_a_stalled_open(bool isPaced)
    {
        var (time, since) = (new ManualTimeProvider(), isPaced ? TimeSpan.Zero : TimeSpan.MaxValue);
        var limit = TimeSpan.FromSeconds(15);
        var arrives = new TaskCompletionSource<Stream>();
        var file = new MemoryFile("a.mkv", []) { Length = 1, Opening = (_, _, token) => new ValueTask<Stream>(arrives.Task.WaitAsync(token)) };
        var opening = FileBody.OpenAsync(file, ByteRange.Whole(1), limit, time, () => since, Token);
        for (var waited = TimeSpan.Zero; waited < 10 * limit; waited += limit)
            time.Advance(limit);
        Assert.Equal(isPaced, !opening.IsCompleted);

        if (isPaced)
        {
            since = TimeSpan.MaxValue;
            time.Advance(limit);
        }

        await Assert.ThrowsAsync<ContentUnavailableException>(() => opening);
    }

    /// <summary>FileBody restarts its first-byte timeout with each volume head, so a seek across unproved volumes is not refused meanwhile (DAV-71).</summary>
    [Fact]
    public async Task First_byte_timeout_restarts_with_each_volume_head()
    {
        var (time, limit) = (new ManualTimeProvider(), TimeSpan.FromSeconds(15));
        var stream = new ProvingStream();
        var file = new MemoryFile("a.mkv", []) { Length = 1, Opening = (_, _, _) => ValueTask.FromResult<Stream>(stream) };
        var opening = FileBody.OpenAsync(file, ByteRange.Whole(1), limit, time, static () => TimeSpan.MaxValue, Token);
        for (var head = 0; head < 100; head++)
        {
            time.Advance(limit - TimeSpan.FromSeconds(1));
            Assert.False(opening.IsCompleted);
            stream.HeadArrived!();
        }

        time.Advance(limit - TimeSpan.FromSeconds(1));
        Assert.False(opening.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(1));
        await Assert.ThrowsAsync<ContentUnavailableException>(() => opening);

        // A late head starts no timer, because the body has already failed.
        stream.HeadArrived!();
        Assert.Equal(0, time.Waiting);
    }

    private static async Task<bool> CopyAsync(Stream stream, int length, RecordingPipeWriter output)
    {
        var file = new MemoryFile("a.mkv", []) { Length = length, Opening = (_, _, _) => ValueTask.FromResult(stream) };
        var limit = TimeSpan.FromSeconds(15);
        await using var body = await FileBody.OpenAsync(file, ByteRange.Whole(length), limit, TimeProvider.System, static () => TimeSpan.MaxValue, Token);
        return await body.CopyToAsync(output, direct: null, new ClientProgress(null, Timeout.InfiniteTimeSpan, TimeProvider.System, Token), limit);
    }

    /// <summary>Returns at most this many bytes per read.</summary>
    private sealed class TricklingStream(byte[] content, int most) : MemoryStream(content)
    {
        public int Given { get; private set; }

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            var read = await base.ReadAsync(buffer[..Math.Min(buffer.Length, most)], cancellationToken);
            Given += read;
            return read;
        }
    }

    /// <summary>Never returns a byte; the test reports the arrival of heads.</summary>
    private sealed class ProvingStream : MemoryStream, IProvingStream
    {
        public Action? HeadArrived { get; private set; }

        public void WatchProof(Action headArrived) => HeadArrived = headArrived;

        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            await Task.Delay(Timeout.InfiniteTimeSpan, TimeProvider.System, cancellationToken);
            return 0;
        }
    }

    private sealed class RecordingPipeWriter : PipeWriter
    {
        private readonly ArrayBufferWriter<byte> _written = new();
        private byte[] _memory = [];
        private int _unflushed;

        public byte[] Written => _written.WrittenSpan.ToArray();

        public int LargestHint { get; private set; }

        public int Flushes { get; private set; }

        public int MostUnflushed { get; private set; }

        public bool IsReaderGone { get; init; }

        public override void Advance(int bytes)
        {
            _written.Write(_memory.AsSpan(0, bytes));
            _unflushed += bytes;
            MostUnflushed = Math.Max(MostUnflushed, _unflushed);
        }

        public override Memory<byte> GetMemory(int sizeHint = 0)
        {
            // Ignores the first write, because it has a size hint of its own.
            if (Flushes > 0)
                LargestHint = Math.Max(LargestHint, sizeHint);
            return _memory = new byte[Math.Max(sizeHint, 1)];
        }

        public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(Math.Max(sizeHint, 64 * 1024)).Span;

        public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default)
        {
            Flushes++;
            _unflushed = 0;
            return ValueTask.FromResult(new FlushResult(isCanceled: false, isCompleted: IsReaderGone));
        }

        public override void CancelPendingFlush()
        {
        }

        public override void Complete(Exception? exception = null)
        {
        }
    }
}
