using System.Security.Cryptography;
using Sluice.Server.Listening;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>A response that holds a scarce resource is aborted if its client is too slow, but a paused film is not (F03).</summary>
public sealed class PausedPlayerTests
{
    private const int Length = 48 << 20;
    private const int Entries = 300_000;

    [Fact(Timeout = 120_000)]
    public async Task F03_Response_deadline_aborts_a_listing_but_not_a_paused_film()
    {
        await using var server = await DavTestServer.StartAsync(before: app => app.UseAnswerDeadlines());
        var content = new byte[Length];
        new Random(3).NextBytes(content);
        server.Store.Root.Add(new MemoryFile("film.mkv", content));
        var ended = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.Store.Root.Add(new MemoryCollection("long") { Listing = () => Endless(ended) });

        await using var player = await server.ConnectAsync();
        await player.SendAsync("GET /film.mkv");
        var film = await player.ReadHeadAsync();
        await player.ReadPartAsync(film, 1 << 20);
        await using var reader = await server.ConnectAsync();
        await reader.SendAsync("PROPFIND /long/", "Depth: 1");
        Assert.Equal(207, (await reader.ReadHeadAsync()).Status);

        server.Time.Advance(TimeSpan.FromSeconds(59));
        Assert.False(ended.Task.IsCompleted);
        server.Time.Advance(TimeSpan.FromSeconds(1));
        Assert.InRange(await ended.Task, 1, Entries - 1);
        server.Time.Advance(TimeSpan.FromHours(3));

        await player.ReadBodyAsync(film);
        Assert.True(film.IsComplete);
        Assert.Equal(SHA256.HashData(content), SHA256.HashData(film.Body));
    }

    /// <summary>A finished response leaves no deadline behind for the next one on its connection.</summary>
    [Fact]
    public async Task F03_Deadline_is_cleared_when_its_response_ends()
    {
        await using var server = await DavTestServer.StartAsync(before: app => app.UseAnswerDeadlines());
        server.Store.Root.Add(new MemoryFile("film.mkv", new byte[100]));
        await using var client = await server.ConnectAsync();
        var timers = server.Time.Waiting;
        for (var i = 0; i < 3; i++)
        {
            await client.SendAsync("PROPFIND /", "Depth: 1");
            Assert.Equal(207, (await client.ReadAnswerAsync(isHead: false)).Status);
            // The client may receive the last byte of a response before the server has finished it.
            while (server.Time.Waiting > timers)
                await Task.Delay(TimeSpan.FromMilliseconds(1), TimeProvider.System, TestContext.Current.CancellationToken);
            server.Time.Advance(TimeSpan.FromSeconds(90));
        }
    }

    private static IEnumerable<IStoreItem> Endless(TaskCompletionSource<int> ended)
    {
        var given = 0;
        try
        {
            for (; given < Entries; given++)
                yield return new MemoryFile($"{given}", []);
        }
        finally
        {
            ended.TrySetResult(given);
        }
    }
}
