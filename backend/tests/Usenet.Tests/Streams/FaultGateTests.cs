using System.Collections.Concurrent;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>
/// Gate G1: every fault of the mock, at one to three providers, with several concurrent readers at random offsets, both with early release
/// and verified first; some pause for longer than the idle limits. A completed read has no wrong byte, and nothing is left behind. With a
/// healthy provider reads complete, whatever another one does. The wall clock jumps by years meanwhile.
/// </summary>
public sealed class FaultGateTests : IAsyncDisposable
{
    private const int ArticleSize = 16_384;
    private const int Articles = 40;
    private const int Cap = 4;
    private const int Readers = 8;
    private const int CellsAtATime = 6;

    // Longest wait for one article: the last walk over the providers begins before the retries end, after the longest pause between tries,
    // and asks each provider twice, limited by lease and stall; another reader that joins the load extends it by as much again. A second of
    // tolerance is added, and time during which the process did not run does not count.
    private static TimeSpan ArticleDeadline(int providers) =>
        2 * (Retries + LongestPause + (2 * providers * (Impatient.LeaseTimeout + Impatient.PlaybackStall)));

    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(2);

    // Longest cooldown of a lone provider, whose breaker has a schedule of its own.
    private static readonly TimeSpan LoneRest = TimeSpan.FromSeconds(15);

    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);

    // A read that takes longer hangs: it is canceled and fails.
    private static readonly TimeSpan Hangs = TimeSpan.FromSeconds(90);

    // Short, so that a pause until every buffer is released costs little time.
    private static readonly TimeSpan IdleDrop = TimeSpan.FromMilliseconds(20);

    // Short, so that silent faults end soon. On a busy machine they also end good answers, which costs reads but no bytes.
    private static readonly TimeSpan Retries = TimeSpan.FromMilliseconds(800);
    private static readonly NntpOptions Impatient = new()
    {
        ConnectTimeout = TimeSpan.FromMilliseconds(300),
        LoginTimeout = TimeSpan.FromMilliseconds(500),
        PlaybackStall = TimeSpan.FromMilliseconds(300),
        BackgroundStall = TimeSpan.FromMilliseconds(600),
        LeaseTimeout = TimeSpan.FromSeconds(2),
        BreakerCooldown = TimeSpan.FromMilliseconds(50),
        BreakerLongestCooldown = TimeSpan.FromMilliseconds(200),
        CloseGrace = TimeSpan.FromMilliseconds(20),
        HedgeFloor = TimeSpan.FromMilliseconds(100),
        KeepAliveInterval = TimeSpan.FromMilliseconds(30),
    };

    private readonly ConcurrentDictionary<FaultKind, long> _met = [];
    private readonly Heartbeat _heartbeat = new();
    private int _whole;
    private int _ended;
    private int _paused;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>All kinds except the one that is only counted.</summary>
    private static FaultKind[] Kinds => [.. Enum.GetValues<FaultKind>().Where(kind => kind != FaultKind.Coverage)];

    [Fact]
    public Task G1_20000_reads_under_every_fault_return_no_wrong_byte() => RunAsync(20_000, seed: 1);

    [Fact]
    [Trait("Category", "Long")]
    public Task G1_250000_reads_under_every_fault_return_no_wrong_byte() => RunAsync(250_000, seed: 1_000);

    public ValueTask DisposeAsync() => _heartbeat.DisposeAsync();

    private async Task RunAsync(int reads, int seed)
    {
        Cell[] cells =
        [
            .. from kind in Kinds
            from providers in Enumerable.Range(1, 3)
            from isAtAll in providers == 1 ? [true] : new[] { false, true }
            from verify in new[] { false, true }
            select new Cell(kind, providers, isAtAll, verify),
        ];
        var perRound = (reads + (cells.Length * 64) - 1) / (cells.Length * 64);
        var perCell = (reads + (cells.Length * perRound) - 1) / (cells.Length * perRound);
        var numbered = Enumerable.Range(0, perRound).SelectMany(_ => cells).Select((cell, index) => (cell, seed + index)).ToArray();
        await Parallel.ForEachAsync(
            numbered,
            new ParallelOptions { MaxDegreeOfParallelism = CellsAtATime, CancellationToken = Token },
            async (work, _) => await PlayAsync(work.cell, perCell, work.Item2));

        TestContext.Current.TestOutputHelper?.WriteLine(
            $"seed {seed}: {_whole} reads whole, {_ended} ended by an error, {_paused} paused; faults met: {string.Join(", ", _met.OrderBy(met => met.Key).Select(met => $"{FaultNames.Of(met.Key)} {met.Value}"))}");
        Assert.Empty(Kinds.Except(_met.Keys));
        Assert.InRange(_whole + _ended, reads, int.MaxValue);

        // Most cells have a healthy provider or a passing fault; the test would prove nothing if all reads failed.
        Assert.InRange(_whole, reads / 2, int.MaxValue);
        Assert.InRange(_paused, reads / 20, reads / 5);
    }

    private async Task PlayAsync(Cell cell, int reads, int seed)
    {
        var random = new Random(seed);
        var clock = new ShiftedClock();
        int?[] depths = cell.Kind == FaultKind.PolicyCap ? [1] : [null, 1, 4];
        await using var host = await EngineHost.StartAsync(
            EngineHost.Film(2 * Articles, ArticleSize, files: 2),
            new MockOptions
            {
                Providers = [.. Enumerable.Range(0, cell.Providers).Select(_ => Provider(cell.Kind))],
                Faults = [Script(cell, random)],
                Seed = (ulong)seed,
            },
            Impatient,
            new StreamOptions { PlaybackRetries = Retries, VerifyBeforeServe = cell.Verify, CacheBytes = 0, IdleTrim = IdleDrop / 2, IdleDrop = IdleDrop, AskAgainAfter = IdleDrop },
            (index, account) => account with
            {
                User = "u",
                Password = "p",
                MaxConnections = Cap,
                UseTls = IsTls(cell.Kind),
                PipeliningDepth = depths[seed % depths.Length],
                SkipTlsVerification = index > 0 || !IsCertificate(cell.Kind),
            },
            streamTime: clock,
            nntpTime: clock);
        try
        {
            var (next, whole) = (0, 0);
            await Task.WhenAll(Enumerable.Range(0, Readers).Select(async reader =>
            {
                var dice = new Random((seed * Readers) + reader);
                while (Interlocked.Increment(ref next) <= reads)
                {
                    clock.SetApart(TimeSpan.FromDays(730 * dice.Next(-1, 2)));
                    if (await ReadAsync(host, cell.Providers, cell.Verify, dice))
                        Interlocked.Increment(ref whole);
                }
            }));

            // Normally every read completes; a machine busy for longer than the deadlines fails some.
            Assert.True(cell.IsAtAll || whole * 2 >= reads, $"{whole} of {reads} reads came to their end beside a sound provider");
            await host.AssertNothingIsLeftAsync(Token);

            // Idle connections are closed a moment after the last read.
            if (cell.Kind == FaultKind.PolicyIdle)
                await Eventually.HoldsAsync(() => Met(host, cell.Kind) > 0, () => "no connection rested", Token);
            foreach (var provider in host.Mock.ProviderStats)
                Assert.InRange(provider.ConnectionsPeak, 0, Cap);

            // After this jump every time of day stored so far lies in the future.
            clock.SetApart(-TimeSpan.FromDays(730));

            // Once the faults end, the next film is read whole: no connection, permit or verdict blocks it.
            var met = Met(host, cell.Kind);
            if (met > 0)
                _met.AddOrUpdate(cell.Kind, met, (_, before) => before + met);
            // Only a provider whose certificate is checked stays unusable, because no certificate store contains the CA of the mock.
            host.Mock.ChangeFaults([]);
            if (!IsCertificate(cell.Kind) || cell.Providers > 1)
                await host.AssertReadsCleanAsync(file: 1, tries: cell.Providers > 1 ? 5 : 5 + (int)(LoneRest / TimeSpan.FromMilliseconds(500)), Token);
            await host.AssertNothingIsLeftAsync(Token);
        }
        catch (Exception failure) when (failure is not OperationCanceledException)
        {
            throw new InvalidOperationException($"{cell}, seed {seed}: {failure.Message}", failure);
        }
    }

    /// <summary>Counts how often a fault occurred. With a lowered cap, refused connections count too.</summary>
    private static long Met(EngineHost host, FaultKind kind) =>
        host.Mock.Stats.FaultCount(kind) + (kind == FaultKind.PolicyCap ? host.Mock.Stats.Refused : 0);

    /// <returns>Whether the read completed.</returns>
    private async Task<bool> ReadAsync(EngineHost host, int providers, bool verify, Random random)
    {
        var length = host.Release.Files[0].Size;
        var count = random.Next(3) == 0 ? random.Next(1, 4 * ArticleSize) : random.Next(1, ArticleSize);
        var position = random.NextInt64(length - count);
        var read = new byte[count];
        var total = 0;
        var whole = false;

        // Some reads pause after a part, until all their buffers are released.
        var began = _heartbeat.Now;
        var pausesAfter = random.Next(8) == 0 ? random.Next(1, count) : 0;
        using var patience = CancellationTokenSource.CreateLinkedTokenSource(Token);
        patience.CancelAfter(Hangs);
        try
        {
            await using var stream = host.Open(position, random.Next(4) == 0 ? null : position + count);
            while (total < count && await stream.ReadAsync(read.AsMemory(total, (total < pausesAfter ? pausesAfter : count) - total), patience.Token) is > 0 and var got)
            {
                total += got;
                if (total == pausesAfter)
                {
                    await Task.Delay(3 * IdleDrop, TimeProvider.System, patience.Token);
                    Interlocked.Increment(ref _paused);
                }
            }

            Assert.True(total == count, $"a read of {count} at {position} ended after {total} without an error");
            whole = true;
        }
        catch (IOException)
        {
            // A missing article ends the read.
        }
        catch (OperationCanceledException) when (!Token.IsCancellationRequested)
        {
            Assert.Fail($"a read of {count} at {position} hangs after {total}");
        }

        var articles = ((position + count - 1) / ArticleSize) - (position / ArticleSize) + 1;
        var took = _heartbeat.Since(began);
        Assert.True(took <= (articles * ArticleDeadline(providers)) + Grace, $"a read of {articles} articles at {position} took {took}");

        // Only the first article of a failed read may have unverified bytes, and none if everything is verified first.
        var proved = whole || verify ? 0 : (int)Math.Min(total, ArticleSize - (position % ArticleSize));
        Assert.True(read.AsSpan(proved, total - proved).SequenceEqual(host.Truth(position + proved, total - proved)), $"wrong bytes in {total} of {count} at {position}");
        Interlocked.Increment(ref whole ? ref _whole : ref _ended);
        return whole;
    }

    private static MockProvider Provider(FaultKind kind) =>
        new() { User = "u", Password = "p", MaxConnections = Cap, Latency = TimeSpan.FromMilliseconds(2), Tls = IsTls(kind) ? MockTls.Valid : MockTls.None };

    /// <summary>Returns a fault at the first provider or at all of them, rare or frequent.</summary>
    private static MockFault Script(Cell cell, Random random)
    {
        var kind = cell.Kind;
        var fault = new MockFault
        {
            Kind = kind,
            Provider = cell.IsAtAll ? null : 0,
            Rate = random.Next(3) switch { 0 => 0.03, 1 => 0.1, _ => 0.4 },
            Tries = random.Next(2) == 0 ? 1 : null,
            Offset = random.Next(2) == 0 ? random.Next(ArticleSize) : null,
        };
        return kind switch
        {
            // These faults always occur, and end after a while.
            FaultKind.ConnectRefuse or FaultKind.ConnectBlackhole => fault with { Rate = 1, Tries = null, Until = TimeSpan.FromMilliseconds(400) },
            FaultKind.PolicyDown => fault with { Rate = 1, Tries = null, After = TimeSpan.FromMilliseconds(30), Until = TimeSpan.FromMilliseconds(400) },
            FaultKind.ConnectSlow or FaultKind.AuthSlow => fault with { Rate = 0.7, Duration = TimeSpan.FromMilliseconds(random.Next(2) == 0 ? 50 : 900) },
            FaultKind.BodyStall => fault with { Duration = TimeSpan.FromMilliseconds(random.Next(500)), CloseAfterStall = random.Next(2) == 0 },
            FaultKind.PolicyIdle => fault with { Rate = 1, Duration = TimeSpan.FromMilliseconds(20) },
            FaultKind.PolicyCap => fault with { Rate = 1, Limit = 1 },
            FaultKind.PolicyThrottle => fault with { Rate = 1, Limit = 2_000_000 },
            FaultKind.CommandLong => fault with { Rate = 0.03, Tries = 1 },
            >= FaultKind.ConnectSlow and <= FaultKind.AuthThen480 or >= FaultKind.TlsStall and <= FaultKind.TlsOneByte => fault with { Rate = random.Next(2) == 0 ? 0.3 : 0.8 },
            >= FaultKind.PolicyIdle => fault with { Rate = 1, Tries = null },
            _ => fault,
        };
    }

    private static bool IsTls(FaultKind kind) => kind is >= FaultKind.TlsStall and <= FaultKind.TlsOneByte;

    private static bool IsCertificate(FaultKind kind) => kind is FaultKind.TlsExpired or FaultKind.TlsWrongHost or FaultKind.TlsSelfSigned;

    private sealed record Cell(FaultKind Kind, int Providers, bool IsAtAll, bool Verify);
}
