using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;

namespace Sluice.Usenet.Benchmarks;

/// <summary>A file under a limit of bandwidth that no line reaches against the same file without one: what asking the limiter costs.</summary>
internal static class LimitRun
{
    private const int Articles = 400;
    private const int Connections = 20;
    private const int Rounds = 9;
    private const long Unreachable = 12_500_000_000;

    /// <summary>Reads both in turns; the first round opens the connections and warms the code.</summary>
    public static async Task PrintAsync()
    {
        var release = MockRelease.Plain(1, (long)Articles * MockFile.DefaultArticleSize);
        var provider = new MockProvider { Latency = TimeSpan.FromMilliseconds(50), Jitter = TimeSpan.FromMilliseconds(10) };
        await using var server = await MockServer.StartAsync(new MockOptions { Providers = [provider] });
        var account = new ProviderOptions { Name = "mock", Host = "127.0.0.1", Port = server.Ports[0], UseTls = false, MaxConnections = Connections };
        using var bandwidth = new BandwidthLimiter(TimeProvider.System);
        await using var accounts = new NntpAccounts(new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance, bandwidth: bandwidth);
        await using var pool = new ProviderPool(accounts, [account], new NntpOptions());
        var ratios = new List<double>();
        for (var round = 0; round <= Rounds; round++)
        {
            bandwidth.Configure(0);
            var free = await JoinedRun.RateAsync(pool, release);
            bandwidth.Configure(Unreachable);
            var limited = await JoinedRun.RateAsync(pool, release);
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture, $"{(round == 0 ? "cold" : "warm")}: no limit {free / 1e6:F1} MB/s, limit out of reach {limited / 1e6:F1} MB/s, ratio {limited / free:F3}"));
            if (round > 0)
                ratios.Add(limited / free);
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"median ratio {ratios.Order().ElementAt(Rounds / 2):F3}"));
    }
}
