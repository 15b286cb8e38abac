using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Xunit;

namespace Sluice.Usenet.Tests;

/// <summary>A mock news server with one release, and the engine that reads it.</summary>
internal sealed class EngineHost : IAsyncDisposable
{
    private readonly NntpAccounts _accounts;
    private readonly NntpListener _listener;

    // Pools of the engine, which only tests inspect.
    private readonly IReadOnlyList<NntpConnectionPool> _connections;

    // Manual clocks that stand still until a test moves them, each with its number of timers before the engine started.
    private readonly (ManualTimeProvider Clock, int Others)[] _clocks;
    private bool _closed;

    private EngineHost(
        MockServer mock, MockRelease release, NntpAccounts accounts, IReadOnlyList<NntpConnectionPool> connections, ProviderPool pool, StreamEngine engine, (ManualTimeProvider, int)[] clocks)
    {
        (Mock, Release, Pool, Engine) = (mock, release, pool, engine);
        (_accounts, _connections, _clocks) = (accounts, connections, clocks);
        _listener = new NntpListener(accounts.Meter);
    }

    public MockServer Mock { get; }

    public MockRelease Release { get; }

    public ProviderPool Pool { get; }

    /// <summary>Counters of the engine's connections.</summary>
    public NntpCounters Counters => _listener.Now;

    /// <summary>The accounts at the mock, as configured in the pool.</summary>
    public required IReadOnlyList<ProviderOptions> Accounts { get; init; }

    /// <summary>The facts that the pool remembers about the accounts.</summary>
    public required ProviderMemory Memory { get; init; }

    public GlobalOperationLimiter Limiter => _accounts.Limiter;

    /// <summary>The usage of all accounts together; complete once the engine is closed.</summary>
    public ProviderUse Use => _accounts.Uses.Values.Aggregate(default(ProviderUse), static (sum, use) => sum + use);

    public StreamEngine Engine { get; }

    /// <summary>Bytes that count toward the data cap of an account.</summary>
    public long Charged(int provider) => _accounts.Charged(Accounts[provider].Id);

    /// <summary>Adds to the bytes that count toward the data cap of an account; a negative number refills it.</summary>
    public void Charge(int provider, long bytes)
    {
        _accounts.AddCharged(Accounts[provider].Id, bytes);
        _accounts.OnQuotaChanged();
    }

    /// <summary>State of the pools, for the message of a failing test.</summary>
    public string Pools => string.Join(Environment.NewLine, _connections);

    /// <summary>Number of connections with a late reply.</summary>
    public int LateNow => _connections.Sum(static pool => pool.ToString().Split(", late").Length - 1);

    /// <summary>Number of rented blocks without those of the cache.</summary>
    public long HeldBlocks => Engine.Blocks.Rented - (Engine.CachedBytes / BlockPool.BlockSize);

    /// <summary>Number of permits in use over all lanes.</summary>
    public int Permits => Enum.GetValues<OperationLane>().Sum(Limiter.InUse);

    // Articles of tests are small, so a probe is half an article at most, as with articles of the usual size.
    private static readonly StreamOptions ForSmallArticles = new() { ProbeBytes = 10_000, LandingReach = 4_000 };

    // A busy machine can be silent for a second, and hedged requests would change the counts of articles. Tests of hedging bring
    // their own options.
    private static readonly NntpOptions WithoutHedge = new() { HedgeEnabled = false };

    public static async Task<EngineHost> StartAsync(
        MockRelease release,
        MockOptions? mock = null,
        NntpOptions? nntp = null,
        StreamOptions? streams = null,
        Func<int, ProviderOptions, ProviderOptions>? provider = null,
        TimeProvider? streamTime = null,
        TimeProvider? nntpTime = null,
        DiskSegmentCache? disk = null,
        BandwidthLimiter? bandwidth = null)
    {
        var clocks = new[] { streamTime, nntpTime }.OfType<ManualTimeProvider>().Distinct().Select(clock => (clock, clock.Alive)).ToArray();
        var server = await MockServer.StartAsync(mock);
        ProviderOptions[] accounts = [.. server.Ports.Select((port, index) =>
        {
            var account = new ProviderOptions { Name = $"mock{index}", Host = "127.0.0.1", Port = port, UseTls = false, MaxConnections = 8, Priority = index };
            return provider is null ? account : provider(index, account);
        })];
        var memory = new ProviderMemory(streamTime ?? TimeProvider.System);
        var all = new NntpAccounts(new GlobalOperationLimiter(time: nntpTime), nntpTime ?? TimeProvider.System, NullLoggerFactory.Instance, memory, names: null, bandwidth);
        var connections = all.Acquire(accounts, nntp ?? WithoutHedge);
        var pool = new ProviderPool(all, accounts, nntp ?? WithoutHedge);
        var engine = new StreamEngine(pool, streams ?? ForSmallArticles, streamTime ?? TimeProvider.System, NullLoggerFactory.Instance, disk);
        return new EngineHost(server, release, all, connections, pool, engine, clocks) { Accounts = accounts, Memory = memory };
    }

    public static MockRelease Film(int articles, int articleSize = 20_000, int files = 1) =>
        MockRelease.Plain(7, ((long)articles * articleSize) - (articleSize / 3), files, articleSize);

    public PostedFile File(int index = 0) => FileOf(Release, index);

    public static PostedFile FileOf(MockRelease release, int index = 0)
    {
        var file = release.Files[index];
        var ids = release.MessageIds(index);
        var map = SegmentMap.Uniform(ids.Count, Math.Min(file.ArticleSize, file.Size), file.Size);
        return new PostedFile(map, new IdList(ids));
    }

    public ReadOnlyStream Open(long position = 0, long? end = null) =>
        Engine.Open([FileExtent.Whole(File())], OperationLane.Playback, position, end);

    public byte[] Truth(long offset, int count, int file = 0)
    {
        var bytes = new byte[count];
        Release.Fill(file, offset, bytes);
        return bytes;
    }

    /// <summary>Requests STAT for articles of the first file, as a health check does.</summary>
    /// <param name="first">Number of the first part.</param>
    /// <param name="count">Number of parts.</param>
    /// <param name="everyProvider">Whether to ask every provider.</param>
    /// <param name="cancellationToken">Null for the token of the test.</param>
    public async Task<ArticlePresence[]> StatAsync(int first, int count, bool everyProvider = false, CancellationToken? cancellationToken = null)
    {
        MessageId[] ids = [.. Enumerable.Range(first, count).Select(part => MessageId.Parse(Release.MessageId(0, part)))];
        var answers = new ArticlePresence[count];
        await Pool.StatAsync(new StatRequest(ids, OperationLane.HealthCheck, everyProvider), answers, cancellationToken ?? TestContext.Current.CancellationToken);
        return answers;
    }

    /// <summary>Reads and compares a whole file, in several tries, because a recovered provider may still be in its cooldown.</summary>
    public async Task AssertReadsCleanAsync(int file, int tries, CancellationToken cancellationToken)
    {
        var truth = Truth(0, (int)Release.Files[file].Size, file);
        for (var left = tries; ; left--)
        {
            try
            {
                await using var stream = Engine.Open([FileExtent.Whole(File(file))], OperationLane.Playback, 0, null);
                var read = new byte[truth.Length];
                await stream.ReadExactlyAsync(read, cancellationToken);
                Assert.True(read.AsSpan().SequenceEqual(truth), "wrong bytes in a read without faults");
                return;
            }
            catch (IOException fault) when (left > 1 && fault is not EndOfStreamException)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(500), TimeProvider.System, cancellationToken);
            }
        }
    }

    /// <summary>Fails if a permit, a block, a stream, a socket above the cap or an unusable socket is left.</summary>
    public async Task AssertNothingIsLeftAsync(CancellationToken cancellationToken)
    {
        await Eventually.HoldsAsync(
            () => Permits == 0 && HeldBlocks == 0 && Engine.OpenStreams == 0,
            () => $"{Permits} permits, {HeldBlocks} blocks, {Engine.OpenStreams} streams left",
            cancellationToken);

        // With a manual clock, nothing closes the sockets that wait for a timer, so there is no wait. A socket that was reset by a trial sees
        // no close by the server, so it may keep its slot until the limit.
        for (var provider = 0; provider < _connections.Count && _clocks.Length == 0; provider++)
        {
            var (pool, mock) = (_connections[provider], Mock.ProviderStats[provider]);
            await Eventually.HoldsAsync(
                () => pool.Sockets == Usable(pool) && mock.ConnectionsNow <= Accounts[provider].MaxConnections,
                () => $"provider {provider}: {pool.Sockets} sockets, of which {Usable(pool)} are of use; {mock.ConnectionsNow} at the mock; {pool}",
                cancellationToken,
                after: _connections[provider].Shared.Options.CloseLimit);
        }
    }

    /// <summary>
    /// Closes the engine and compares its counts with those of the mock, which still runs: connections and commands are equal, except for
    /// those canceled on their way.
    /// </summary>
    public async Task AssertCountsAgreeAsync(CancellationToken cancellationToken)
    {
        await CloseAsync();
        await Eventually.HoldsAsync(
            () => Mock.Stats.ConnectionsNow == 0 && !Mock.HaveUnaccepted.Contains(true),
            () => $"the mock still has {Mock.Stats.ConnectionsNow} connections",
            cancellationToken);
        var (engine, mock) = (Counters, Mock.Stats);
        Assert.InRange(mock.Opened - engine.SocketsOpened, 0, engine.SocketsAbandoned);
        Assert.InRange(engine.Bodies - mock.CommandCount("BODY"), 0, engine.Unanswered);
        Assert.InRange(engine.Commands - mock.Commands.Values.Sum(), 0, engine.Unanswered);
        Assert.InRange(mock.ConnectionsPeak, 0, engine.SocketsPeak);
    }

    public async ValueTask DisposeAsync()
    {
        await CloseAsync();
        _listener.Dispose();
        await Mock.DisposeAsync();
        foreach (var (clock, others) in _clocks)
            await Eventually.HoldsAsync(() => clock.Alive <= others, () => $"{clock.Alive - others} timers left", CancellationToken.None);
    }

    /// <summary>Counts the idle connections that accept a command.</summary>
    private static int Usable(NntpConnectionPool pool) => pool.Idle.Count(connection => !connection.Load.IsLate);

    private async Task CloseAsync()
    {
        if (_closed)
            return;
        _closed = true;
        await Engine.DisposeAsync();
        await Pool.DisposeAsync();
        await _accounts.DisposeAsync();
    }

    private sealed class IdList(IReadOnlyList<string> ids) : ISegmentIds
    {
        private readonly SegmentIds[] _ids = [.. ids.Select(id => new SegmentIds(MessageId.Parse(id), []))];

        public int Count => _ids.Length;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) =>
            ValueTask.FromResult(_ids[index]);
    }
}
