using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Cost of open connections: memory and CPU time of each, and of a fetch while they are open.</summary>
public sealed class OpenConnectionsTests
{
    private const int Article = 20_000;
    private const int Articles = 2_000;
    private const int OfOneAccount = 500;
    private const int AtATime = 50;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 240_000)]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(100)]
    [InlineData(1000)]
    [Trait("Category", "Long")]
    public async Task Fetches_open_nearly_all_connections_and_leak_nothing(int count)
    {
        var accounts = (count + OfOneAccount - 1) / OfOneAccount;
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(Articles, Article),
            new MockOptions { Providers = [.. Enumerable.Repeat(new MockProvider { Latency = TimeSpan.FromMilliseconds(300), MaxConnections = OfOneAccount }, accounts)] },
            provider: (_, account) => account with { MaxConnections = count / accounts, PipeliningDepth = 1, Priority = 0 });
        var memory = GC.GetTotalMemory(forceFullCollection: true);
        var cpu = Environment.CpuUsage.TotalTime;

        // Each round needs some more connections than are open, because the provider delays each answer.
        for (var (now, lot) = (0L, 0); now < count && lot < 200; now = host.Mock.Stats.ConnectionsNow, lot++)
            await Task.WhenAll(Enumerable.Range(0, (int)Math.Min(count, now + AtATime)).Select(part => FetchAsync(host, part)));
        cpu = Environment.CpuUsage.TotalTime - cpu;
        memory = GC.GetTotalMemory(forceFullCollection: true) - memory;
        var open = host.Mock.Stats.ConnectionsNow;
        Assert.InRange(open, count * 4 / 5, count);

        for (var provider = 0; provider < accounts; provider++)
            host.Mock.Change(provider, settings => settings with { Latency = TimeSpan.Zero });
        var one = await MeasureAsync(host, atOnce: 1, Articles / 4);
        var all = await MeasureAsync(host, atOnce: count, Articles);
        TestContext.Current.TestOutputHelper?.WriteLine(
            $"{open} of {count} connections: opened for {cpu.TotalMilliseconds / open:F1} ms of CPU each, {memory / open / 1024.0:F1} KiB each, "
            + $"{one.TotalMicroseconds:F0} us of CPU a fetch one at a time, {all.TotalMicroseconds:F0} us with {count} at a time");
        await host.AssertNothingIsLeftAsync(Token);
    }

    /// <summary>Returns the CPU time of one fetch.</summary>
    private static async Task<TimeSpan> MeasureAsync(EngineHost host, int atOnce, int fetches)
    {
        var next = -1;
        var cpu = Environment.CpuUsage.TotalTime;
        await Task.WhenAll(Enumerable.Range(0, atOnce).Select(async _ =>
        {
            while (Interlocked.Increment(ref next) is var part && part < fetches)
                await FetchAsync(host, part);
        }));
        return (Environment.CpuUsage.TotalTime - cpu) / fetches;
    }

    private static async Task FetchAsync(EngineHost host, int part)
    {
        var id = MessageId.Parse(host.Release.MessageId(0, (part % Articles) + 1));

        // With two accounts, each serves every other fetch.
        var other = host.Accounts.Count == 1 ? default : default(ProviderSet).With(part % host.Accounts.Count);
        var request = new ArticleRequest(id, OperationLane.Playback, ExpectedBytes: Article, Excluded: other);
        var reply = await host.Pool.FetchAsync(request, new CollectingSink(), Token);
        Assert.True(reply.IsFound);
    }
}
