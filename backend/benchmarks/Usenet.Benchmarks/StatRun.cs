using System.Diagnostics;
using System.Diagnostics.Metrics;
using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Benchmarks;

/// <summary>Availability of 10,000 articles over 10 connections at a round trip of 50 ms: at most 2 s (BAR-13).</summary>
internal static class StatRun
{
    private const int Articles = 10_000;
    private const int Connections = 10;
    private const int Rounds = 5;
    private static readonly TimeSpan RoundTrip = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan Bar = TimeSpan.FromSeconds(2);

    /// <summary>Asks about all of them, first with no connection open and then with ten.</summary>
    /// <returns>1 when the median misses the bar.</returns>
    public static async Task<int> PrintAsync()
    {
        var release = MockRelease.Plain(1, Articles * 700_000L, 1, 700_000);
        MessageId[] ids = [.. release.MessageIds(0).Select(MessageId.Parse)];
        await using var server = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { Latency = RoundTrip }] });
        var account = new ProviderOptions { Name = "mock", Host = "127.0.0.1", Port = server.Ports[0], UseTls = false, MaxConnections = Connections };
        await using var pool = new ProviderPool([account], new NntpOptions(), new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance);
        long flushes = 0;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, listening) =>
        {
            if (instrument.Meter == pool.Meter && instrument.Name == "sluice.nntp.flushes")
                listening.EnableMeasurementEvents(instrument);
        };
        listener.SetMeasurementEventCallback<long>((_, count, _, _) => Interlocked.Add(ref flushes, count));
        listener.Start();
        var answers = new ArticlePresence[ids.Length];
        var times = new List<TimeSpan>();
        for (var round = 0; round <= Rounds; round++)
        {
            var before = Volatile.Read(ref flushes);
            var started = Stopwatch.GetTimestamp();
            await pool.StatAsync(new StatRequest(ids, OperationLane.HealthCheck), answers, CancellationToken.None);
            var elapsed = Stopwatch.GetElapsedTime(started);
            if (!answers.All(answer => answer.IsPresent))
                throw new InvalidOperationException("An article that the server has was not found.");
            if (round > 0)
                times.Add(elapsed);
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{Articles} STAT over {Connections} connections at {RoundTrip.TotalMilliseconds} ms, {(round == 0 ? "cold" : "warm")}: {elapsed.TotalSeconds:F2} s, {Volatile.Read(ref flushes) - before} flushes, {server.Stats.ConnectionsPeak} connections"));
        }

        var median = times.Order().ElementAt(Rounds / 2);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"median {median.TotalSeconds:F2} s, bar {Bar.TotalSeconds} s"));
        return median <= Bar ? 0 : 1;
    }
}
