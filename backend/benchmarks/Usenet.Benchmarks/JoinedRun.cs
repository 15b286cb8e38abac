using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Benchmarks;

/// <summary>Ten posted files behind one stream against one file of the same size, at a round trip of 50 ms: at least 0.97 of its rate.</summary>
internal static class JoinedRun
{
    private const int Files = 10;
    private const int ArticlesPerFile = 40;
    private const int Connections = 20;
    private const int Rounds = 7;
    private const double Bar = 0.97;

    /// <summary>Reads both in turns; the first round opens the connections and warms the code.</summary>
    /// <param name="megabits">Rate of the line; 0 for none but the machine's.</param>
    /// <returns>1 when the median of the ratios misses the bar.</returns>
    public static async Task<int> PrintAsync(int megabits)
    {
        const long Size = (long)Files * ArticlesPerFile * MockFile.DefaultArticleSize;
        var (whole, parts) = (MockRelease.Plain(1, Size), MockRelease.Plain(2, Size, Files));
        var provider = new MockProvider { Latency = TimeSpan.FromMilliseconds(50), Jitter = TimeSpan.FromMilliseconds(10), Bandwidth = megabits * 125_000L };
        await using var server = await MockServer.StartAsync(new MockOptions { Providers = [provider] });
        var account = new ProviderOptions { Name = "mock", Host = "127.0.0.1", Port = server.Ports[0], UseTls = false, MaxConnections = Connections };
        await using var pool = new ProviderPool([account], new NntpOptions(), new GlobalOperationLimiter(), TimeProvider.System, NullLoggerFactory.Instance);
        var ratios = new List<double>();
        for (var round = 0; round <= Rounds; round++)
        {
            var one = await RateAsync(pool, whole);
            var ten = await RateAsync(pool, parts);
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{(round == 0 ? "cold" : "warm")}: one file {one / 1e6:F1} MB/s, {Files} files {ten / 1e6:F1} MB/s, ratio {ten / one:F3}"));
            if (round > 0)
                ratios.Add(ten / one);
        }

        var median = ratios.Order().ElementAt(Rounds / 2);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"median ratio {median:F3}, bar {Bar}"));
        return median >= Bar ? 0 : 1;
    }

    /// <summary>Reads a release from its first byte to its last, by an engine that knows nothing of earlier rounds.</summary>
    /// <returns>Bytes per second.</returns>
    public static async Task<double> RateAsync(ProviderPool pool, MockRelease release)
    {
        await using var engine = new StreamEngine(pool, new StreamOptions(), TimeProvider.System, NullLoggerFactory.Instance);
        var buffer = new byte[256 << 10];
        long total = 0;
        var started = Stopwatch.GetTimestamp();
        await using var stream = engine.Open([.. release.Files.Select((_, index) => FileExtent.Whole(FileOf(release, index)))], OperationLane.Playback);
        for (int read; (read = await stream.ReadAsync(buffer)) > 0;)
            total += read;
        if (total != stream.Length)
            throw new InvalidOperationException("The stream ended too soon.");
        return total / Stopwatch.GetElapsedTime(started).TotalSeconds;
    }

    private static PostedFile FileOf(MockRelease release, int index)
    {
        var file = release.Files[index];
        var ids = release.MessageIds(index);
        return new PostedFile(SegmentMap.Uniform(ids.Count, file.ArticleSize, file.Size), new IdList([.. ids.Select(id => new SegmentIds(MessageId.Parse(id), []))]));
    }

    private sealed class IdList(SegmentIds[] ids) : ISegmentIds
    {
        public int Count => ids.Length;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => ValueTask.FromResult(ids[index]);
    }
}
