using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Bodies in progress when the process starts to stop (DAV-76).</summary>
public sealed class StoppedBodyTests
{
    private const int Length = 64 << 20;
    private const int Step = 4 << 20;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private int _served;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task DAV_76_Shutdown_resets_a_paused_body(bool isDirect)
    {
        await using var server = await DavTestServer.StartAsync(isDirect: isDirect);
        await using var client = await RawConnection.OpenAsync(server.Address);
        var closed = AddFilm(server);
        var answer = await BeginAsync(client);

        var stopping = server.StopAsync();
        while (!closed.IsCompleted)
            await PassAsync(server, closed);

        await client.ReadBodyAsync(answer);
        Assert.True(answer.WasReset);
        await stopping;
    }

    [Theory(Timeout = 60_000)]
    [InlineData(true)]
    [InlineData(false)]
    public async Task DAV_76_Shutdown_completes_a_progressing_body(bool isDirect)
    {
        await using var server = await DavTestServer.StartAsync(isDirect: isDirect);
        await using var client = await RawConnection.OpenAsync(server.Address);
        var closed = AddFilm(server);
        var answer = await BeginAsync(client);

        var stopping = server.StopAsync();
        await WatchedAsync(server, closed);
        for (var taken = Step; taken < Length / 2; taken += Step)
        {
            var before = Volatile.Read(ref _served);
            await client.ReadPartAsync(answer, Step);

            // The server reads the second block once the first has begun to leave.
            while (Volatile.Read(ref _served) < before + 2 && !closed.IsCompleted)
                await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
            await PassAsync(server, closed);
            Assert.False(closed.IsCompleted);
        }

        await client.ReadBodyAsync(answer);
        Assert.True(answer.IsComplete);
        await stopping;
    }

    /// <returns>A task that ends when the film's stream is closed.</returns>
    private Task AddFilm(DavTestServer server)
    {
        var block = new byte[256 << 10];
        var stream = new ScriptedStream([.. Enumerable.Repeat<Func<CancellationToken, ValueTask<byte[]>>>(Serve, Length / block.Length)]);
        server.Store.Root.Add(new MemoryFile("film.mkv", []) { Length = Length, Opening = (_, _, _) => ValueTask.FromResult(server.Served(stream)) });
        return stream.Disposed;

        ValueTask<byte[]> Serve(CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _served);
            return new(block);
        }
    }

    private static async Task<RawAnswer> BeginAsync(RawConnection client)
    {
        await client.SendAsync("GET /film.mkv");
        var answer = await client.ReadHeadAsync();
        await client.ReadPartAsync(answer, Step);
        return answer;
    }

    /// <summary>Advances the clock by a second once the server watches the response.</summary>
    private static async Task PassAsync(DavTestServer server, Task closed)
    {
        await WatchedAsync(server, closed);
        server.Time.Advance(Second);
        await Task.Yield();
    }

    private static async Task WatchedAsync(DavTestServer server, Task closed)
    {
        while (server.Time.Waiting == 0 && !closed.IsCompleted)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
    }
}
