using System.Security.Cryptography;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.WebDav;
using Sluice.Testing.WebDav;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Kestrel resets answers that are taken too slowly. Those that hold something scarce are, and a paused film is not (F03).</summary>
public sealed class PausedPlayerTests
{
    private const int Length = 48 << 20;
    private const int Entries = 300_000;

    /// <summary>
    /// With the grace of a second in place of one that a test would have to wait out. Listings that nobody reads measure the time:
    /// each that is cut shows that the rule is in force and that a pause has lasted for longer than it allows.
    /// </summary>
    [Fact(Timeout = 120_000)]
    public async Task F03_Paused_player_outlasts_the_rule_that_cuts_a_paused_listing()
    {
        var strict = new MinDataRate(bytesPerSecond: 100_000_000, gracePeriod: TimeSpan.FromSeconds(1.1));
        await using DavTestServer server = await DavTestServer.StartAsync(
            services => services.Configure<KestrelServerOptions>(kestrel => kestrel.Limits.MinResponseDataRate = strict));
        var content = new byte[Length];
        new Random(3).NextBytes(content);
        server.Store.Root.Add(new MemoryFile("film.mkv", content));

        await using RawConnection player = await server.ConnectAsync();
        await player.SendAsync("GET /film.mkv");
        RawAnswer film = await player.ReadHeadAsync();
        await player.ReadPartAsync(film, 1 << 20);
        for (var pause = 0; pause < 3; pause++)
            await AssertListingIsCutAsync(server, pause);

        await player.ReadBodyAsync(film);
        Assert.True(film.IsComplete);
        Assert.Equal(SHA256.HashData(content), SHA256.HashData(film.Body));
    }

    private static async Task AssertListingIsCutAsync(DavTestServer server, int number)
    {
        var ended = new TaskCompletionSource<int>(TaskCreationOptions.RunContinuationsAsynchronously);
        server.Store.Root.Add(new MemoryCollection($"long{number}") { Listing = () => Endless(ended) });
        await using RawConnection reader = await server.ConnectAsync();
        await reader.SendAsync($"PROPFIND /long{number}/", "Depth: 1");
        Assert.Equal(207, (await reader.ReadHeadAsync()).Status);
        Assert.InRange(await ended.Task, 1, Entries - 1);
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
