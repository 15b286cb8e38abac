using System.Collections.Concurrent;
using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Tools.FullNzbTester.Engine;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Replies that are late, never come or drip in: their effect on fetches behind them and on other connections. No test waits, because
/// the clock is manual.
/// </summary>
public sealed class LateReplyTests
{
    private static readonly NntpOptions Options = new() { CloseGrace = TimeSpan.Zero };
    private static readonly TimeSpan AnAnswer = TimeSpan.FromSeconds(20);

    private readonly StepClock _clock = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    /// <summary>DATE takes longer than any answer before it, then the server is fast again.</summary>
    [Fact(Timeout = 120_000)]
    public async Task Connection_with_a_late_DATE_reply_serves_articles_again()
    {
        const int Connections = 4;
        await using var server = new NewsServer { Greet = Connections, HoldsDate = true };
        await using var pool = Pool(Options, Account(server, Connections) with { PipeliningDepth = 1 });
        using var counters = new NntpListener(pool.Meter);
        await Task.WhenAll(Enumerable.Range(0, Connections).Select(i => FetchAsync(pool, $"a{i}@t")));
        Assert.Equal(Connections, server.Accepted);

        _clock.Advance(TimeSpan.FromSeconds(39));
        _clock.Advance(TimeSpan.FromSeconds(2));
        await Eventually.HoldsAsync(() => server.Dates == Connections, () => $"{server.Dates} DATE", Token);
        for (var i = 0; i < 20; i++)
            _clock.Advance(TimeSpan.FromMilliseconds(50));
        var received = counters.Now.BytesReceived;
        server.LetGo();
        await Eventually.HoldsAsync(() => counters.Now.BytesReceived == received + (Connections * NewsServer.Date.Length), () => "a DATE is not answered", Token);

        await Task.WhenAll(Enumerable.Range(0, Connections).Select(i => FetchAsync(pool, $"b{i}@t")));
        for (var i = 0; i < 8; i++)
            await FetchAsync(pool, $"c{i}@t");
        Assert.Equal(Connections, server.Accepted);
    }

    /// <summary>A viewer returns before any connection has answered its DATE.</summary>
    [Fact(Timeout = 120_000)]
    public async Task Article_queued_behind_a_late_DATE_arrives_after_it()
    {
        await using var server = new NewsServer { Greet = 1, HoldsDate = true };
        await using var pool = Pool(Options, Account(server, 1));
        await FetchAsync(pool, "a@t");
        _clock.Advance(TimeSpan.FromSeconds(39));
        _clock.Advance(TimeSpan.FromSeconds(2));
        await Eventually.HoldsAsync(() => server.Dates == 1, () => "no DATE", Token);
        for (var i = 0; i < 20; i++)
            _clock.Advance(TimeSpan.FromMilliseconds(50));

        var fetch = FetchAsync(pool, "b@t");
        server.LetGo();

        await fetch;
        Assert.Equal(1, server.Accepted);
    }

    /// <summary>The timer finds the reply late, and the reply ends before the timer reports that.</summary>
    [Fact(Timeout = 120_000)]
    public async Task Reply_completing_as_it_times_out_keeps_its_connection()
    {
        await using var server = new NewsServer { Greet = 1, Holds = "held@t" };
        await using var pool = Pool(Options, Account(server, 1));
        await FetchAsync(pool, "a@t");
        var fetch = FetchAsync(pool, "held@t");
        await Eventually.HoldsAsync(() => server.Held == 1, () => "the article was not asked for", Token);

        var crossed = false;
        _clock.AtNextChange = () =>
        {
            server.LetGo();
            crossed = ((IAsyncResult)fetch).AsyncWaitHandle.WaitOne(AnAnswer);
        };
        _clock.Advance(TimeSpan.FromSeconds(1));
        Assert.True(crossed, "The reply did not end in between.");
        await fetch;

        await FetchAsync(pool, "b@t");
        Assert.Equal(1, server.Accepted);
    }

    /// <summary>Two lanes never share a connection, so the viewer needs one of its own, however little waits.</summary>
    [Fact(Timeout = 120_000)]
    public async Task F14_Viewer_next_to_an_unanswered_STAT_gets_a_new_connection()
    {
        await using var server = new NewsServer { Greet = 1, AnswersStat = false };
        await using var pool = Pool(Options, Account(server, 20));
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var stat = pool.StatAsync(new StatRequest(new[] { MessageId.Parse("s@t") }, OperationLane.HealthCheck), new ArticlePresence[1], ends.Token).AsTask();
        await Eventually.HoldsAsync(() => server.Stats == 1, () => "no STAT", Token);

        await FetchAsync(pool, "a@t");

        Assert.Equal(2, server.Accepted);
        await ends.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => stat);
    }

    [Theory(Timeout = 120_000)]
    [InlineData(false)]
    [InlineData(true)]
    public async Task F14_Viewer_next_to_a_stalled_import_gets_a_new_connection(bool hedge)
    {
        await using var server = new NewsServer { Greet = 1, Holds = "held@t" };
        await using var pool = Pool(Options with { HedgeEnabled = hedge }, Account(server, 20));
        var import = FetchAsync(pool, "held@t", OperationLane.Import);
        await Eventually.HoldsAsync(() => server.Held == 1, () => "the article was not asked for", Token);

        await FetchAsync(pool, "a@t");

        Assert.Equal(2, server.Accepted);
        server.LetGo();
        await import;
    }

    /// <summary>Once a pipeline is late, a fetch that waits for it gets another connection, although no reply has ended.</summary>
    [Fact(Timeout = 120_000)]
    public async Task Waiting_article_gets_a_new_connection_if_another_is_late()
    {
        await using var server = new NewsServer { Greet = 1, Holds = "held@t" };
        await using var pool = Pool(Options, Account(server, 20) with { PipeliningDepth = 1 });
        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        await FetchAsync(pool, "a@t");
        var held = FetchAsync(pool, "held@t", OperationLane.Import, ends.Token);
        await Eventually.HoldsAsync(() => server.Held == 1, () => "the article was not asked for", Token);

        var next = FetchAsync(pool, "b@t", OperationLane.Import);
        _clock.Advance(TimeSpan.FromSeconds(1));

        await next;
        server.LetGo();
        await held;
    }

    /// <summary>Bytes arrive without progress, because each only extends one status line.</summary>
    [Theory(Timeout = 120_000)]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(false, true)]
    public async Task F10_Reply_dripping_byte_by_byte_ends_at_the_stall_limit(bool hedge, bool isStat)
    {
        await using var server = new NewsServer { Greet = 1, Drips = true };
        var options = Options with { HedgeEnabled = hedge, RetriesPerProvider = 0, BackgroundStall = Options.PlaybackStall };
        await using var pool = Pool(options, Account(server, 1));
        var answers = new ArticlePresence[1];
        var asking = isStat
            ? pool.StatAsync(new StatRequest(new[] { MessageId.Parse("s@t") }, OperationLane.HealthCheck), answers, Token).AsTask()
            : FetchAsync(pool, "a@t");
        await Eventually.HoldsAsync(() => server.Held == 1, () => "nothing was asked for", Token);

        for (var second = 0; second <= 2 * options.PlaybackStall.TotalSeconds && !asking.IsCompleted; second += 5)
        {
            var sent = server.Sent;
            server.Drop();
            await Eventually.HoldsAsync(() => server.Sent > sent || asking.IsCompleted, () => "the byte was not sent", Token);
            _clock.Advance(TimeSpan.FromSeconds(5));
        }

        await Task.WhenAny(asking, Task.Delay(AnAnswer, TimeProvider.System, Token));
        Assert.True(asking.IsCompleted, "It still waits.");
        if (isStat)
            Assert.Equal(1, answers[0].Unanswered.Count);
        else
            Assert.Equal(NntpFault.Stalled, (await Assert.ThrowsAsync<NntpException>(() => asking)).Fault);
    }

    /// <summary>Idle connections are forgotten, as by a router, which proves nothing about the provider's bodies.</summary>
    [Fact(Timeout = 120_000)]
    public async Task F13_Unanswered_idle_DATEs_do_not_count_as_faults()
    {
        const int Connections = 8;
        await using var server = new NewsServer { Greet = Connections, HoldsDate = true };
        await using var other = new NewsServer { Greet = 1 };
        await using var pool = Pool(Options, Account(server, Connections) with { PipeliningDepth = 1 }, Account(other, 1) with { Priority = 1 });
        await Task.WhenAll(Enumerable.Range(0, Connections).Select(i => FetchAsync(pool, $"a{i}@t")));
        Assert.Equal((Connections, 0), (server.Accepted, other.Accepted));
        _clock.Advance(TimeSpan.FromSeconds(39));
        _clock.Advance(TimeSpan.FromSeconds(2));
        await Eventually.HoldsAsync(() => server.Dates == Connections, () => $"{server.Dates} DATE", Token);

        // The connections occupy their slots until the server has closed them too.
        _clock.Advance(TimeSpan.FromSeconds(6));
        server.LetGo();
        await Eventually.HoldsAsync(() => pool.Sockets(0) == 0, () => $"{pool.Sockets(0)} sockets", Token);

        await FetchAsync(pool, "b@t");
        Assert.Equal((Connections + 1, 0), (server.Accepted, other.Accepted));
    }

    private static ProviderOptions Account(NewsServer server, int connections) =>
        new() { Name = "scripted", Host = "127.0.0.1", Port = server.Port, UseTls = false, MaxConnections = connections };

    private ProviderPool Pool(NntpOptions options, params ProviderOptions[] accounts) =>
        new(accounts, options, new GlobalOperationLimiter(time: _clock), _clock, NullLoggerFactory.Instance);

    private async Task FetchAsync(ProviderPool pool, string id, OperationLane lane = OperationLane.Playback, CancellationToken? cancellationToken = null)
    {
        var urgency = lane == OperationLane.Playback ? new FetchUrgency(this, isHeadOfLine: true) : null;
        var fetch = pool.FetchAsync(new ArticleRequest(MessageId.Parse(id), lane, urgency, ExpectedBytes: 100), new EndSink(), cancellationToken ?? Token).AsTask();
        Assert.True((await fetch.WaitAsync(AnAnswer, TimeProvider.System, Token)).IsFound);
    }

    private sealed class EndSink : IArticleSink
    {
        private BodyScanner _scanner = BodyScanner.AtStart;

        public void Start(int provider) => _scanner = BodyScanner.AtStart;

        public bool Write(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);
    }

    /// <summary>A news server that has every article and holds back the replies that a test selects.</summary>
    private sealed class NewsServer : IAsyncDisposable
    {
        public static readonly byte[] Date = "111 20260103100000\r\n"u8.ToArray();

        private readonly ScriptedServer _server;
        private readonly ManualResetEventSlim _goOn = new();
        private readonly SemaphoreSlim _drops = new(0);
        private readonly ConcurrentDictionary<int, byte> _asked = new();
        private int _dates;
        private int _stats;
        private int _held;
        private int _sent;

        public NewsServer() => _server = new ScriptedServer(Serve);

        public int Port => _server.Port;

        public int Accepted => _server.Accepted;

        /// <summary>Number of connections that must all have received a command before any answers.</summary>
        public int Greet { get; init; }

        /// <summary>Whether DATE is not answered until <see cref="LetGo"/>.</summary>
        public bool HoldsDate { get; init; }

        /// <summary>The article that is not answered until <see cref="LetGo"/>.</summary>
        public string? Holds { get; init; }

        public bool AnswersStat { get; init; } = true;

        /// <summary>Whether answers are sent byte by byte, one for each <see cref="Drop"/>.</summary>
        public bool Drips { get; init; }

        public int Dates => Volatile.Read(ref _dates);

        public int Stats => Volatile.Read(ref _stats);

        public int Held => Volatile.Read(ref _held);

        /// <summary>Number of bytes sent one by one.</summary>
        public int Sent => Volatile.Read(ref _sent);

        public void LetGo() => _goOn.Set();

        public void Drop() => _drops.Release();

        public async ValueTask DisposeAsync()
        {
            await _server.DisposeAsync();
            _goOn.Dispose();
            _drops.Dispose();
        }

        private void Serve(ScriptedServer.Connection connection)
        {
            connection.Send("200 ready\r\n"u8);
            while (true)
            {
                var command = Encoding.ASCII.GetString(connection.ReadCommand());
                var id = command[(command.IndexOf(' ', StringComparison.Ordinal) + 1)..];
                if (command.StartsWith("QUIT", StringComparison.Ordinal))
                    return;
                if (command.StartsWith("BODY", StringComparison.Ordinal))
                {
                    AwaitAll(connection);
                    if (id == $"<{Holds}>")
                        Hold(connection);
                    Answer(connection, $"222 0 {id}\r\n{id}\r\n.\r\n");
                }
                else if (command.StartsWith("DATE", StringComparison.Ordinal))
                {
                    Interlocked.Increment(ref _dates);
                    if (HoldsDate)
                        _goOn.Wait(connection.Stopping);
                    connection.Send(Date);
                }
                else if (command.StartsWith("STAT", StringComparison.Ordinal))
                {
                    Interlocked.Increment(ref _stats);
                    if (AnswersStat)
                        Answer(connection, $"223 0 {id}\r\n");
                }
            }
        }

        private void AwaitAll(ScriptedServer.Connection connection)
        {
            // Otherwise a fast connection could serve every fetch before the next is open.
            _asked.TryAdd(connection.Number, 0);
            if (connection.Number <= Greet)
                SpinWait.SpinUntil(() => _asked.Count >= Greet || connection.Stopping.IsCancellationRequested);
        }

        private void Hold(ScriptedServer.Connection connection)
        {
            Interlocked.Increment(ref _held);
            _goOn.Wait(connection.Stopping);
        }

        private void Answer(ScriptedServer.Connection connection, string answer)
        {
            if (!Drips)
            {
                connection.Send(Encoding.ASCII.GetBytes(answer));
                return;
            }

            Interlocked.Increment(ref _held);
            foreach (var value in Encoding.ASCII.GetBytes(answer))
            {
                _drops.Wait(connection.Stopping);
                connection.Send([value]);
                Interlocked.Increment(ref _sent);
            }
        }
    }
}
