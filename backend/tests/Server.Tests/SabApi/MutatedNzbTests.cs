using System.Collections.Concurrent;
using System.Net;
using System.Text.Json;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Any upload returns 200 with an id, and its item is then in exactly one list (SAB-22, SAB-93).</summary>
public sealed class MutatedNzbTests : IDisposable
{
    private const int AtATime = 8;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public Task SAB93_1000_mutated_NZBs_are_each_in_queue_or_history_once() => AddAsync(1000, 93);

    [Fact]
    [Trait("Category", "Long")]
    public Task SAB93_5000_mutated_NZBs_are_each_in_queue_or_history_once() => AddAsync(5000, 94);

    private async Task AddAsync(int count, int seed)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var ids = new ConcurrentBag<string>();
        await Parallel.ForAsync(0, count, new ParallelOptions { MaxDegreeOfParallelism = AtATime, CancellationToken = Token }, async (i, token) =>
        {
            var content = Content(new Random((seed * 10_000) + i));
            using var answer = await host.PostFileAsync(content, $"odd-{i}.nzb", "&cat=tv", token);
            var text = await answer.Content.ReadAsStringAsync(token);
            Assert.True(answer.StatusCode == HttpStatusCode.OK, $"{i} of {seed}: {answer.StatusCode} {text}");
            using var json = JsonDocument.Parse(text);
            Assert.True(json.RootElement.GetProperty("status").GetBoolean(), $"{i} of {seed}: {text}");
            Assert.NotEqual(0, json.RootElement.GetProperty("nzo_ids").GetArrayLength());
            foreach (var id in json.RootElement.GetProperty("nzo_ids").EnumerateArray())
                ids.Add(id.GetString()!);
        });

        // Items that are not NZBs move to the history meanwhile, so the queue is read before and after it.
        var before = await IdsAsync(host, "queue", "limit=0");
        var history = await IdsAsync(host, "history", "limit=1000000");
        var after = await IdsAsync(host, "queue", "limit=0");
        Assert.Distinct(ids);
        Assert.Empty(ids.Except(history).Except(before));
        Assert.Empty(history.Intersect(after));
        Assert.Empty(history.Concat(after).Except(ids));
        // The mutations are useful only if both lists have many items.
        Assert.InRange(after.Count, count / 20, count);
        Assert.InRange(history.Count, count / 20, count);
    }

    /// <summary>Returns an NZB with changed bytes, in shuffled order or compressed, with changes before or after the compression.</summary>
    private static byte[] Content(Random random)
    {
        string[] names = ["a.mkv", "b.nfo", "c.par2", "d.rar"];
        random.Shuffle(names);
        var plain = NzbText.Of(names[..random.Next(1, names.Length + 1)]);
        return random.Next(8) switch
        {
            0 => plain,
            1 => MutatedNzb.Of(NzbText.Gzip(plain), random),
            2 => NzbText.Gzip(MutatedNzb.Of(plain, random)),
            3 => MutatedNzb.Of(NzbText.Zip(("x.nzb", plain), ("y.nzb", NzbText.Of("e.mkv"))), random),
            4 => NzbText.Zip(("x.nzb", MutatedNzb.Of(plain, random))),
            5 => MutatedNzb.Of(NzbText.Bzip2(plain), random),
            _ => MutatedNzb.Of(plain, random),
        };
    }

    private static async Task<HashSet<string>> IdsAsync(ProductHost host, string list, string query) =>
        [.. (await host.CallAsync($"mode={list}&{query}", Token)).GetProperty(list).GetProperty("slots").EnumerateArray().Select(slot => slot.GetProperty("nzo_id").GetString()!)];
}
