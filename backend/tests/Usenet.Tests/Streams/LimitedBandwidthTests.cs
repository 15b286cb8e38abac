using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Tests.Nntp;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// Readers and imports on the wire under a bandwidth limit (STR-14): the mock counts bytes on a test clock that advances only while no reply
/// is outstanding. Hedging is on, and there is a second provider for it.
/// </summary>
public sealed class LimitedBandwidthTests : IDisposable
{
    private const int Readers = 8;
    private const int Imports = 5;
    private const int ArticleSize = 100_000;

    // 20 Mbit/s.
    private const long Limit = 2_500_000;

    // Shorter than any silence that counts as late.
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private readonly ManualTimeProvider _clock = new();
    private readonly BandwidthLimiter _bandwidth;

    public LimitedBandwidthTests() => _bandwidth = new BandwidthLimiter(_clock);

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _bandwidth.Dispose();

    [Fact(Timeout = 240_000)]
    public async Task Limit_of_20_Mbit_is_met_with_playback_first_and_no_hedge()
    {
        _bandwidth.Configure(Limit);
        await using var host = await StartAsync(articles: 1600, ArticleSize, _clock);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var (read, imported) = (new long[Readers], new long[Imports]);
        Task[] work =
        [
            .. Enumerable.Range(0, Readers).Select(reader => ReadOnAsync(host, reader, read, enough.Token)),
            .. Enumerable.Range(0, Imports).Select(import => ImportOnAsync(host, import, imported, enough.Token)),
        ];

        await WaitForReadersAsync();
        await RunAsync(host, TimeSpan.FromSeconds(2));
        for (var window = 0; window < 2; window++)
        {
            var (bytes, readBefore, importedBefore) = (host.Mock.Stats.Bytes, read.Sum(), imported.Sum());
            await RunAsync(host, Window);
            AssertShare(host.Mock.Stats.Bytes - bytes, Limit * Window.TotalSeconds);
            Assert.True(imported.Sum() > importedBefore, "the imports stand still");
            Assert.InRange((read.Sum() - readBefore) / (double)(read.Sum() - readBefore + imported.Sum() - importedBefore), 0.85, 1);
        }

        AssertNothingWasLate(host);
        await enough.CancelAsync();
        await Task.WhenAll(work);
        Assert.InRange(read.Max() / (double)read.Min(), 1, 1.35);
    }

    /// <summary>Readers wait for longer than any deadline without a failure, and continue at once when the limit is removed.</summary>
    [Fact(Timeout = 240_000)]
    public async Task Reads_paced_for_minutes_do_not_fail_and_end_with_the_limit()
    {
        const int Small = 20_000;
        _bandwidth.Configure(2_000);
        await using var host = await StartAsync(articles: 200, Small, _clock);
        var read = new long[Readers];
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var work = Enumerable.Range(0, Readers).Select(reader => ReadOnAsync(host, reader, read, enough.Token)).ToArray();
        await WaitForReadersAsync();
        var bytes = host.Mock.Stats.Bytes;
        await RunAsync(host, TimeSpan.FromMinutes(6));
        AssertShare(host.Mock.Stats.Bytes - bytes, 2_000 * 360);
        AssertNothingWasLate(host);
        Assert.Equal(TimeSpan.Zero, _bandwidth.SincePaced(OperationLane.Playback));
        Assert.All(read, bytes => Assert.InRange(bytes, Small, 10 * Small));

        // The engine holds no more than the limited rate needs.
        Assert.InRange(host.HeldBlocks, 0, Readers * 16);

        _bandwidth.Configure(0);
        for (var ends = Array.TrueForAll(read, static bytes => bytes >= 20 * Small); !ends; ends = Array.TrueForAll(read, static bytes => bytes >= 20 * Small))
            await StepAsync(host);
        await enough.CancelAsync();
        await Task.WhenAll(work);
        AssertNothingWasLate(host);
    }

    [Fact(Timeout = 120_000)]
    public async Task Segments_in_memory_do_not_count_toward_the_limit()
    {
        const int Articles = 10;
        await using var host = await StartAsync(Articles, ArticleSize, TimeProvider.System);
        var (first, second) = (new byte[Articles * ArticleSize / 2], new byte[Articles * ArticleSize / 2]);
        await using (var stream = host.Open())
            await stream.ReadExactlyAsync(first, Token);
        var bodies = host.Mock.Stats.CommandCount("BODY");

        // One byte per second, on a clock that stands still.
        _bandwidth.Configure(1);
        await using (var stream = host.Open(end: second.Length))
            await stream.ReadExactlyAsync(second, Token);
        Assert.Equal(first, second);
        Assert.Equal(bodies, host.Mock.Stats.CommandCount("BODY"));
    }

    /// <summary>Readers and imports on the system clock.</summary>
    [Fact(Timeout = 240_000)]
    [Trait("Category", "Long")]
    public async Task Throughput_in_real_time_matches_a_20_Mbit_limit()
    {
        const int Usual = 716_800;
        using var bandwidth = new BandwidthLimiter(TimeProvider.System);
        bandwidth.Configure(Limit);
        await using var host = await StartAsync(articles: 400, Usual, TimeProvider.System, bandwidth);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var (read, imported) = (new long[Readers], new long[Imports]);
        Task[] work =
        [
            .. Enumerable.Range(0, Readers).Select(reader => ReadOnAsync(host, reader, read, enough.Token)),
            .. Enumerable.Range(0, Imports).Select(import => ImportOnAsync(host, import, imported, enough.Token)),
        ];
        await Task.Delay(TimeSpan.FromSeconds(3), TimeProvider.System, Token);
        for (var window = 0; window < 3; window++)
        {
            var (began, bytes) = (TimeProvider.System.GetTimestamp(), host.Mock.Stats.Bytes);
            await Task.Delay(Window, TimeProvider.System, Token);
            AssertShare(host.Mock.Stats.Bytes - bytes, Limit * TimeProvider.System.GetElapsedTime(began).TotalSeconds);
        }

        Assert.Equal(0, host.Counters.Hedges);
        await enough.CancelAsync();
        await Task.WhenAll(work);
    }

    private Task<EngineHost> StartAsync(int articles, int articleSize, TimeProvider time, BandwidthLimiter? bandwidth = null) => EngineHost.StartAsync(
        EngineHost.Film(articles, articleSize),
        new MockOptions { Providers = [new MockProvider(), new MockProvider()] },
        // A DATE that keeps a connection warm holds no permit, so this clock would advance before its answer.
        new NntpOptions { KeepsWarm = false },
        streamTime: time,
        nntpTime: time,
        bandwidth: bandwidth ?? _bandwidth);

    /// <summary>Reads from an offset of its own, as fast as possible.</summary>
    private static async Task ReadOnAsync(EngineHost host, int reader, long[] read, CancellationToken enough)
    {
        var file = host.Release.Files[0];
        var from = file.Size / file.ArticleSize / Readers * reader * file.ArticleSize;
        var buffer = new byte[file.ArticleSize];
        await using var stream = host.Open(from);
        try
        {
            while (from + read[reader] + buffer.Length <= file.Size)
            {
                await stream.ReadExactlyAsync(buffer, enough);
                Assert.True(buffer.AsSpan().SequenceEqual(host.Truth(from + read[reader], buffer.Length)), "wrong bytes");
                Interlocked.Add(ref read[reader], buffer.Length);
            }
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
        }
    }

    private static async Task ImportOnAsync(EngineHost host, int import, long[] imported, CancellationToken enough)
    {
        var file = host.Release.Files[0];
        try
        {
            for (var part = 1 + import; ; part = 1 + ((part + Imports) % (int)(file.Size / file.ArticleSize)))
            {
                var request = new ArticleRequest(MessageId.Parse(host.Release.MessageId(0, part)), OperationLane.Import, ExpectedBytes: file.ArticleSize);
                Assert.True((await host.Pool.FetchAsync(request, new CollectingSink(), enough)).IsFound);
                Interlocked.Add(ref imported[import], file.ArticleSize);
            }
        }
        catch (OperationCanceledException) when (enough.IsCancellationRequested)
        {
        }
    }

    /// <summary>Waits until the readers have begun, because the clock of the test would otherwise advance without them.</summary>
    private Task WaitForReadersAsync() =>
        Eventually.HoldsAsync(() => _bandwidth.SincePaced(OperationLane.Playback) == TimeSpan.Zero, () => "no reader waits for the limit", Token);

    private async Task RunAsync(EngineHost host, TimeSpan span)
    {
        for (var end = _clock.GetTimestamp() + span.Ticks; _clock.GetTimestamp() < end;)
            await StepAsync(host);
    }

    /// <summary>Advances the clock by a step, and waits until every requested article has arrived.</summary>
    private async Task StepAsync(EngineHost host)
    {
        _clock.Advance(Step);
        await Eventually.HoldsAsync(() => host.Permits == 0, () => $"{host.Permits} connections owe something", Token);
        Assert.Equal(0, host.LateNow);
    }

    private static void AssertNothingWasLate(EngineHost host)
    {
        Assert.Equal(0, host.Counters.Hedges);
        Assert.Equal(0, host.Mock.ProviderStats[1].CommandCount("BODY"));
        Assert.Equal(host.Mock.Stats.CommandCount("BODY"), host.Mock.Stats.Articles);
    }

    private static void AssertShare(double came, double expected) => Assert.InRange(came / expected, 0.95, 1.05);
}
