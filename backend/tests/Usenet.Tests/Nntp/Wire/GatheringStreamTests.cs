using System.Net;
using System.Net.Sockets;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp.Wire;

/// <summary>A socket wakes its reader for a block of a body, for its end, for a close, and when the bytes are late.</summary>
public sealed class GatheringStreamTests : IAsyncLifetime
{
    private const double BytesPerSecond = 2_000_000;
    private const int Block = 50_000;

    private readonly ManualTimeProvider _time = new();
    private readonly NntpMeter _meter = new(TimeProvider.System);
    private readonly GatheringBeat _beat;
    private readonly byte[] _buffer = new byte[256 * 1024];
    private Socket _client = null!;
    private Socket _server = null!;
    private GatheringStream _stream = null!;

    public GatheringStreamTests() => _beat = new GatheringBeat(_time, new DeadlineGrid(_time));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        using var listener = new Socket(SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        _client = new Socket(SocketType.Stream, ProtocolType.Tcp);
        await _client.ConnectAsync(listener.LocalEndPoint!, Token);
        _server = await listener.AcceptAsync(Token);
        _stream = new GatheringStream(_client, _beat, _meter, heldAbove: 0);
    }

    public async ValueTask DisposeAsync()
    {
        await _stream.DisposeAsync();
        _client.Dispose();
        _server.Dispose();
        await _beat.DisposeAsync();
        _meter.Dispose();
    }

    [Fact]
    public async Task Reader_wakes_once_per_block_of_a_body()
    {
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        await SendAsync(Block - 1);
        Assert.False(reading.IsCompleted);
        await SendAsync(1);
        Assert.Equal(Block, await reading);
        Assert.True(_stream.HasGathered);
    }

    [Theory]
    [InlineData(0, BytesPerSecond)]
    [InlineData(5_000, BytesPerSecond)]
    [InlineData(Block, 0)]
    [InlineData(Block, 1e9)]
    public async Task Urgent_bytes_and_unknown_or_fast_lines_are_not_delayed(long atLeast, double bytesPerSecond)
    {
        await ReadBlockAsync();

        _stream.Expect(atLeast, bytesPerSecond);
        var reading = ReadAsync();
        await SendAsync(100);
        Assert.Equal(100, await reading);
    }

    [Fact]
    public async Task Read_at_the_end_of_a_body_ends_with_its_last_byte()
    {
        await ReadBlockAsync();

        _stream.Expect(20_000, BytesPerSecond);
        var rest = ReadAsync();
        await SendAsync(20_000);
        Assert.Equal(20_000, await rest);
    }

    [Fact]
    public async Task Silence_on_the_line_ends_gathering_with_the_bytes_so_far()
    {
        var heard = 0;
        _stream.Progress = _ => heard++;
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        for (var piece = 1; piece <= 10; piece++)
        {
            // While bytes arrive, gathering continues without a time limit, and reports the arrival.
            await SendAsync(2_000);
            _time.Advance(DeadlineGrid.Coarse);
            Assert.Equal((piece, false), (heard, reading.IsCompleted));
        }

        var heardAt = _time.GetTimestamp();
        Assert.Null(_stream.SilentSince);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal((20_000, 10, heardAt), (await reading, heard, _stream.SilentSince));
    }

    [Fact]
    public async Task First_bytes_after_a_silence_are_returned_at_once()
    {
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        _time.Advance(TimeSpan.FromMilliseconds(100));
        await SendAsync(100);
        Assert.Equal(100, await reading);
        Assert.False(_stream.HasGathered);
    }

    [Theory]
    [InlineData(BytesPerSecond, false)]
    [InlineData(0, true)]
    [InlineData(1e9, true)]
    public async Task Reader_of_a_slow_line_uses_no_thread_pool_thread(double bytesPerSecond, bool isOfPool)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Other systems have no such thread.");
        _stream.Expect(Block, BytesPerSecond);
        _stream.Expect(Block, bytesPerSecond);
        var reading = ReadAsync();
        var continuing = reading.ContinueWith(
            _ => Thread.CurrentThread.IsThreadPoolThread, Token, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        await SendAsync(Block);
        Assert.Equal(isOfPool, await continuing);
    }

    [Fact]
    public async Task Closed_stream_is_no_longer_watched()
    {
        // TLS leaves the stream below it open, so only the socket shows that the connection has ended.
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        _client.Dispose();
        await Assert.ThrowsAnyAsync<IOException>(() => reading);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(0, _time.Waiting);
    }

    [Fact]
    public async Task Close_in_a_body_wakes_the_reader()
    {
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        await SendAsync(100);
        _server.Shutdown(SocketShutdown.Send);
        Assert.Equal(100, await reading);
        Assert.Equal(0, await ReadAsync());
    }

    [Fact]
    public async Task Timer_stops_while_nothing_is_gathered()
    {
        _stream.Expect(0, BytesPerSecond);
        var line = ReadAsync();
        await SendAsync(100);
        await line;
        Assert.Equal(0, _time.Waiting);

        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        Assert.Equal(1, _time.Waiting);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(0, _time.Waiting);
        await SendAsync(100);
        await reading;
    }

    [Fact]
    public async Task Zero_byte_read_waits_only_outside_gathering()
    {
        var waiting = _stream.ReadAsync(Memory<byte>.Empty, Token).AsTask();
        Assert.False(waiting.IsCompleted);
        await SendAsync(100);
        Assert.Equal(0, await waiting);
        Assert.Equal(100, await ReadAsync());

        _stream.Expect(Block, BytesPerSecond);
        Assert.True(_stream.ReadAsync(Memory<byte>.Empty, Token).AsTask().IsCompleted);
    }

    /// <summary>Gathers a block and reads all of it, in several reads if the system is short of memory for sockets and wakes the reader early.</summary>
    private async Task ReadBlockAsync()
    {
        _stream.Expect(Block, BytesPerSecond);
        var reading = ReadAsync();
        await SendAsync(Block);
        for (var read = await reading; read < Block; read += await ReadAsync())
            _stream.Expect(Block - read, BytesPerSecond);
    }

    private Task<int> ReadAsync() => _stream.ReadAsync(_buffer, Token).AsTask();

    /// <summary>Sends bytes and waits until they have arrived, unless the reader has taken them.</summary>
    private async Task SendAsync(int bytes)
    {
        for (var sent = 0; sent < bytes;)
            sent += await _server.SendAsync(new byte[bytes - sent], Token);
        await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }
}
