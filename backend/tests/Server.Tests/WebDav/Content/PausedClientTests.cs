using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Time limit for a client that reads nothing of its response (DAV-75).</summary>
public sealed class PausedClientTests
{
    private const int Length = 64 << 20;
    private const int Step = 4 << 20;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(60);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Client_reading_nothing_for_the_write_timeout_is_reset(bool isDirect)
    {
        await using var server = await DavTestServer.StartAsync(options: new DavOptions { WriteTimeout = Limit }, isDirect: isDirect);
        await using var client = await RawConnection.OpenAsync(server.Address);
        var closed = AddFilm(server).Disposed;
        var answer = await BeginAsync(client);

        // Bytes that fill the buffers of the connection count as progress; after that there is none.
        while (!closed.IsCompleted)
            await PassAsync(server, Limit, closed);

        await client.ReadBodyAsync(answer);
        Assert.True(answer.WasReset);

        // The server holds the blocks that it was sending until the connection is closed.
        while (server.LentBlocks > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }

    [Theory]
    [InlineData(true, true)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(false, false)]
    public async Task Slow_or_unlimited_client_receives_the_whole_response(bool isLimited, bool isDirect)
    {
        var options = new DavOptions { WriteTimeout = isLimited ? Limit : Timeout.InfiniteTimeSpan };
        await using var server = await DavTestServer.StartAsync(options: options, isDirect: isDirect);
        await using var client = await RawConnection.OpenAsync(server.Address);
        var closed = AddFilm(server).Disposed;
        var answer = await BeginAsync(client);

        for (var taken = Step; taken < Length / 2; taken += Step)
        {
            if (isLimited)
                await PassAsync(server, Limit / 2, closed);
            else
                server.Time.Advance(TimeSpan.FromHours(1));
            Assert.False(closed.IsCompleted);
            await client.ReadPartAsync(answer, Step);
        }

        await client.ReadBodyAsync(answer);
        Assert.True(answer.IsComplete);
        await closed;
    }

    private static ScriptedStream AddFilm(DavTestServer server)
    {
        var block = new byte[256 << 10];
        var stream = new ScriptedStream([.. Enumerable.Repeat<Func<CancellationToken, ValueTask<byte[]>>>(_ => new(block), Length / block.Length)]);
        server.Store.Root.Add(new MemoryFile("film.mkv", []) { Length = Length, Opening = (_, _, _) => ValueTask.FromResult(server.Served(stream)) });
        return stream;
    }

    private static async Task<RawAnswer> BeginAsync(RawConnection client)
    {
        await client.SendAsync("GET /film.mkv");
        var answer = await client.ReadHeadAsync();
        await client.ReadPartAsync(answer, Step);
        return answer;
    }

    /// <summary>Advances the clock once the response waits for its client.</summary>
    private static async Task PassAsync(DavTestServer server, TimeSpan time, Task closed)
    {
        while (server.Time.Waiting == 0 && !closed.IsCompleted)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        server.Time.Advance(time);
        await Task.Yield();
    }
}
