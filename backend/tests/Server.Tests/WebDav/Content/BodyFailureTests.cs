using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Responses to failed reads, before and after the headers (DAV-70 to DAV-74).</summary>
public abstract class BodyFailureTests(bool isDirect) : IAsyncLifetime
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(15);

    private DavTestServer _server = null!;

    /// <summary>Exceptions that no file documents, with texts that no client may see.</summary>
    public static TheoryData<Exception> Unexpected =>
    [
        new InvalidDataException("secret-name"),
        new IOException("secret-name"),
        new ObjectDisposedException("secret-name"),
        new TimeoutException("secret-name"),
        new UnauthorizedAccessException("secret-name"),
    ];

    public async ValueTask InitializeAsync() =>
        _server = await DavTestServer.StartAsync(options: new DavOptions { FirstByteTimeout = Limit }, isDirect: isDirect);

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        Assert.Equal(0, _server.LentBlocks);
        GC.SuppressFinalize(this);
    }

    [Theory]
    [InlineData(true, 410, null)]
    [InlineData(false, 503, "5")]
    public async Task Open_failure_maps_to_a_status_with_a_reason(bool gone, int status, string? retryAfter)
    {
        Add((_, _, _) => throw Failure(gone));

        AssertRefused(await _server.SendAsync("GET /secret-name.mkv"), status, retryAfter);
    }

    [Theory]
    [InlineData(true, 410, null)]
    [InlineData(false, 503, "5")]
    public async Task First_read_failure_maps_to_a_status_with_a_reason(bool gone, int status, string? retryAfter)
    {
        var stream = new ScriptedStream(ScriptedStream.Throw(Failure(gone)));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));

        AssertRefused(await _server.SendAsync("GET /secret-name.mkv", "Range: bytes=500-"), status, retryAfter);
        await stream.Disposed;
    }

    [Fact]
    public async Task First_byte_timeout_returns_503()
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(ScriptedStream.Hang(began));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        var answering = _server.SendAsync("GET /secret-name.mkv");
        await began.Task;

        _server.Time.Advance(Limit - TimeSpan.FromMilliseconds(1));
        Assert.False(stream.Disposed.IsCompleted);
        _server.Time.Advance(TimeSpan.FromMilliseconds(1));

        var answer = await answering;
        Assert.Equal(503, answer.Status);
        Assert.Equal("5", answer["Retry-After"]);
        await stream.Disposed;
        Assert.Equal(0, _server.Time.Waiting);
    }

    [Fact]
    public async Task Empty_stream_returns_503()
    {
        Add((_, _, _) => ValueTask.FromResult<Stream>(new ScriptedStream()));

        Assert.Equal(503, (await _server.SendAsync("GET /secret-name.mkv")).Status);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Failure_after_the_headers_resets_the_connection(bool gone) =>
        AssertReset(await CutAsync(ScriptedStream.Throw(Failure(gone))));

    [Theory]
    [MemberData(nameof(Unexpected))]
    public async Task Unexpected_exception_on_open_returns_a_bare_500(Exception failure)
    {
        Add((_, _, _) => throw failure);

        AssertBare(await _server.SendAsync("GET /secret-name.mkv"));
    }

    [Theory]
    [MemberData(nameof(Unexpected))]
    public async Task Unexpected_exception_on_first_read_returns_a_bare_500(Exception failure)
    {
        var stream = new ScriptedStream(ScriptedStream.Throw(failure));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));

        AssertBare(await _server.SendAsync("GET /secret-name.mkv", "Range: bytes=500-"));
        await stream.Disposed;
    }

    [Theory]
    [MemberData(nameof(Unexpected))]
    public async Task Unexpected_exception_after_the_headers_resets(Exception failure) =>
        AssertReset(await CutAsync(ScriptedStream.Throw(failure)));

    [Theory]
    [MemberData(nameof(Unexpected))]
    public async Task Synchronous_exception_after_the_headers_resets(Exception failure) =>
        AssertReset(await CutAsync(_ => throw failure));

    [Fact]
    public async Task Unrequested_cancellation_returns_503_or_resets()
    {
        Add((_, _, _) => ValueTask.FromResult<Stream>(new ScriptedStream(ScriptedStream.Throw(new OperationCanceledException()))));

        Assert.Equal(503, (await _server.SendAsync("GET /secret-name.mkv")).Status);
        AssertReset(await CutAsync(ScriptedStream.Throw(new OperationCanceledException())));
    }

    [Fact]
    public async Task Truncated_stream_resets_the_connection() => AssertReset(await CutAsync());

    [Fact]
    public async Task Body_stalled_for_twice_the_timeout_is_reset()
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(ScriptedStream.Give(new byte[100]), ScriptedStream.Hang(began));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /secret-name.mkv");
        var answer = await connection.ReadHeadAsync();
        await connection.ReadPartAsync(answer, 100);
        await began.Task;
        await SpinUntilAsync(() => _server.Time.Waiting == 1);

        _server.Time.Advance((2 * Limit) - TimeSpan.FromMilliseconds(1));
        Assert.Equal(1, _server.Time.Waiting);
        _server.Time.Advance(TimeSpan.FromMilliseconds(1));

        await connection.ReadBodyAsync(answer);
        AssertReset(answer, 100);
        await stream.Disposed;
    }

    [Fact]
    public async Task Read_timeout_restarts_with_each_read()
    {
        var began = new TaskCompletionSource[3];
        var go = new TaskCompletionSource<byte[]>[3];
        var steps = new Func<CancellationToken, ValueTask<byte[]>>[3];
        for (var i = 0; i < 3; i++)
        {
            var step = i;
            began[i] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            go[i] = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
            steps[i] = async _ =>
            {
                began[step].SetResult();
                return await go[step].Task;
            };
        }

        Add((_, _, _) => ValueTask.FromResult<Stream>(new ScriptedStream(steps)), length: 30);
        var answering = _server.SendAsync("GET /secret-name.mkv");
        for (var i = 0; i < 3; i++)
        {
            await began[i].Task;
            await SpinUntilAsync(() => _server.Time.Waiting == 1);
            _server.Time.Advance((i == 0 ? Limit : 2 * Limit) - TimeSpan.FromSeconds(1));
            go[i].SetResult(new byte[10]);
        }

        var answer = await answering;
        Assert.True(answer.IsComplete);
        Assert.Equal(30, answer.Body.Length);
    }

    [Fact]
    public async Task Client_abort_mid_body_closes_the_stream()
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(ScriptedStream.Give(new byte[100]), ScriptedStream.Hang(began));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /secret-name.mkv");
        await connection.ReadHeadAsync();
        await began.Task;

        connection.Abort();

        await stream.Disposed;
    }

    [Fact]
    public async Task Blocks_filled_after_a_client_abort_are_returned()
    {
        var (began, left) = (new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously), new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        var stream = new ScriptedStream(ScriptedStream.Give(new byte[100]), async cancellationToken =>
        {
            await using var registration = cancellationToken.Register(left.SetResult);
            began.SetResult();
            await left.Task;
            return new byte[500];
        });
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        await using (var connection = await _server.ConnectAsync())
        {
            await connection.SendAsync("GET /secret-name.mkv");
            await connection.ReadHeadAsync();
            await began.Task;
            connection.Abort();
            await stream.Disposed;
        }

        for (var tries = 0; _server.LentBlocks > 0; tries++)
        {
            Assert.True(tries < 1_000, $"{_server.LentBlocks} blocks are lent");
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, TestContext.Current.CancellationToken);
        }
    }

    [Fact]
    public async Task Client_abort_before_the_headers_closes_the_stream()
    {
        var began = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(ScriptedStream.Hang(began));
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /secret-name.mkv");
        await began.Task;

        connection.Abort();

        await stream.Disposed;
    }

    [Fact]
    public async Task Open_receives_only_the_requested_range()
    {
        (long Offset, long Length) asked = default;
        Add((offset, length, _) =>
        {
            asked = (offset, length);
            return ValueTask.FromResult<Stream>(new MemoryStream(new byte[length + 1000]));
        });

        var answer = await _server.SendAsync("GET /secret-name.mkv", "Range: bytes=100-199");

        Assert.Equal((100, 100), asked);
        Assert.Equal(100, answer.Body.Length);
    }

    /// <summary>A body of 1,000 bytes that fails once the client has received the first 300.</summary>
    private async Task<RawAnswer> CutAsync(params Func<CancellationToken, ValueTask<byte[]>>[] then)
    {
        var seen = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        var stream = new ScriptedStream(
            [ScriptedStream.Give(new byte[100]), ScriptedStream.Give(new byte[200]), async _ => await seen.Task, .. then]);
        Add((_, _, _) => ValueTask.FromResult<Stream>(stream));
        await using var connection = await _server.ConnectAsync();
        await connection.SendAsync("GET /secret-name.mkv");
        var answer = await connection.ReadHeadAsync();
        await connection.ReadPartAsync(answer, 300);

        seen.SetResult(new byte[1]);
        await connection.ReadBodyAsync(answer);
        await stream.Disposed;
        return answer;
    }

    private void Add(Func<long, long, CancellationToken, ValueTask<Stream>> opening, long length = 1000) =>
        _server.Store.Root.Add(new MemoryFile("secret-name.mkv", [])
        {
            Length = length,
            Opening = async (offset, count, cancellationToken) => _server.Served(await opening(offset, count, cancellationToken)),
        });

    private static ContentUnavailableException Failure(bool gone) =>
        new(gone ? ContentFault.Gone : ContentFault.Transient, "Because.");

    private static void AssertRefused(RawAnswer answer, int status, string? retryAfter)
    {
        Assert.Equal(status, answer.Status);
        Assert.Equal(retryAfter, answer["Retry-After"]);
        Assert.Equal("no-store", answer["Cache-Control"]);
        Assert.Equal("Because.\n", answer.Text);
        Assert.Null(answer["ETag"]);
        Assert.Null(answer["Content-Range"]);
    }

    private static void AssertBare(RawAnswer answer)
    {
        Assert.Equal(500, answer.Status);
        Assert.Empty(answer.Body);
        Assert.Null(answer["ETag"]);
        Assert.Null(answer["Content-Range"]);
        Assert.DoesNotContain(answer.Headers, header => header.Value.Contains("secret-name", StringComparison.Ordinal));
    }

    private static void AssertReset(RawAnswer answer, int received = 300)
    {
        Assert.Equal(200, answer.Status);
        Assert.True(answer.WasReset, $"complete: {answer.IsComplete}, clean end: {answer.EndedCleanly}");
        Assert.InRange(answer.Length, received, received + 1);
    }

    private static async Task SpinUntilAsync(Func<bool> reached)
    {
        while (!reached())
            await Task.Yield();
    }
}

/// <summary>The server copies the bytes into the connection's pipe.</summary>
public sealed class CopiedBodyFailureTests() : BodyFailureTests(isDirect: false);

/// <summary>The server sends the bytes from the buffers that the stream lends.</summary>
public sealed class LentBodyFailureTests() : BodyFailureTests(isDirect: true);
