using System.Collections.Concurrent;
using System.IO.Compression;
using System.Net;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>An NZB that was acknowledged survives a kill at any moment.</summary>
[Trait("Category", EndToEndRun.Name)]
public sealed class KillTests
{
    private const int Kills = 10;
    private const int AddsPerKill = 50;
    private const int Clients = 4;

    private readonly ConcurrentDictionary<string, byte[]> _acknowledged = new();
    private readonly SyntheticFilm _playing = new(6, 40_000_000, 256_000);

    [Fact]
    public async Task Acknowledged_nzbs_are_in_exactly_one_place_after_each_of_ten_kills()
    {
        var cancel = TestContext.Current.CancellationToken;
        await using var set = await MockedServer.StartAsync(new MockOptions(), null, cancel);
        await _playing.PublishAsync(set.Client, cancel);
        for (var round = 0; round < Kills; round++)
        {
            var before = _acknowledged.Count;
            // The kill strikes at another count each time, from the first answers to the last ones.
            await AddUntilKilledAsync(set, round, killAt: 1 + (round * (AddsPerKill - 2) / (Kills - 1)), cancel);
            Assert.True(_acknowledged.Count > before, "The round acknowledged nothing.");
            await set.RestartAsync(null, cancel);
            await AssertNothingLostAsync(set, cancel);
        }
    }

    /// <summary>Several clients add while a player reads; the process is killed once enough adds were acknowledged.</summary>
    private async Task AddUntilKilledAsync(MockedServer set, int round, int killAt, CancellationToken cancel)
    {
        var reached = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var acknowledged = 0;
        var next = 0;

        async Task AddAsync()
        {
            for (var number = Interlocked.Increment(ref next); number <= AddsPerKill; number = Interlocked.Increment(ref next))
            {
                var name = $"add-{round}-{number}";
                var nzb = MockRelease.Plain((ulong)((round * 1000) + number + 1000), 200_000, articleSize: 100_000).ToNzb();
                if (!await TryAddAsync(set.Client, name, nzb, number % 2 == 0, cancel))
                    return;
                _acknowledged[name] = nzb;
                if (Interlocked.Increment(ref acknowledged) >= killAt)
                    reached.TrySetResult();
            }
        }

        var reader = ReadAsync(set.Client, cancel);
        var adders = Task.WhenAll(Enumerable.Range(0, Clients).Select(_ => Task.Run(AddAsync, cancel)));
        await Task.WhenAny(reached.Task, adders).WaitAsync(cancel);
        Assert.True(reached.Task.IsCompleted, "An add was refused.");
        await set.Server.KillAsync();
        await adders;
        await reader;
    }

    private static async Task<bool> TryAddAsync(SluiceClient client, string name, byte[] nzb, bool put, CancellationToken cancel)
    {
        try
        {
            if (!put)
            {
                await client.AddFileAsync("movies", name, nzb, cancel);
                return true;
            }
            return await client.PutNzbAsync("movies", name, nzb, cancel) == HttpStatusCode.Created;
        }
        catch (Exception lost) when (lost is HttpRequestException or IOException)
        {
            // The process was killed before it answered: nothing was promised.
            return false;
        }
    }

    private async Task ReadAsync(SluiceClient client, CancellationToken cancel)
    {
        try
        {
            await client.ReadUntilCutAsync(_playing.Path, null, null, cancel);
        }
        catch (HttpRequestException)
        {
            // Killed before the headers.
        }
    }

    private async Task AssertNothingLostAsync(MockedServer set, CancellationToken cancel)
    {
        // Items move from the queue to the history meanwhile, so the queue is asked before and after it: what the history
        // holds must have left the queue, and what it does not hold must have been there.
        var before = await set.Client.QueueAsync(cancel);
        var history = (await set.Client.HistoryAsync(cancel)).Select(entry => entry.Name).ToList();
        var after = await set.Client.QueueAsync(cancel);
        foreach (var (name, nzb) in _acknowledged)
        {
            var inHistory = history.Count(entry => entry == name);
            var inQueue = (inHistory > 0 ? after : before).Count(entry => entry == name);
            Assert.True(inQueue + inHistory == 1, $"{name} is {inQueue} times in the queue and {inHistory} times in the history.");
            Assert.Equal(nzb, await StoredCopyAsync(set.Data, nzb, cancel));
        }
    }

    private static async Task<byte[]> StoredCopyAsync(string data, byte[] nzb, CancellationToken cancel)
    {
        await using var file = File.OpenRead(Path.Combine(data, "blobs", SluiceClient.Sha256(nzb) + ".nzb.br"));
        await using var plain = new BrotliStream(file, CompressionMode.Decompress);
        using var copy = new MemoryStream();
        await plain.CopyToAsync(copy, cancel);
        return copy.ToArray();
    }
}
