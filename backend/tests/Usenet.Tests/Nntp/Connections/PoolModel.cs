using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// Real pools over servers without sockets: everything between a fetch and the stream of its connection is product code. One thread, one
/// clock and one random source make a seed determine every event. In the end every fetch that could be served has been served.
/// </summary>
internal sealed class PoolModel : IDisposable
{
    // Length of the answer to a STAT.
    private const int StatLine = 40;

    private static readonly TimeSpan MostWithoutProgress = TimeSpan.FromSeconds(10);

    // Timers are rounded.
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(20);
    private static readonly object[] Readers = [new(), new(), new()];
    private static readonly MessageId Id = MessageId.Parse("a@b");

    // Idle limits are shorter than a run, and no limit is as long as the bound on progress.
    private static readonly NntpOptions Options = new()
    {
        LeaseTimeout = TimeSpan.FromSeconds(3),
        AheadTimeout = TimeSpan.FromSeconds(9),
        PlaybackStall = TimeSpan.FromSeconds(6),
        BackgroundStall = TimeSpan.FromSeconds(8),
        KeepAliveInterval = TimeSpan.FromSeconds(4),
        IdleTimeout = TimeSpan.FromSeconds(5),
        KeepAliveAfterPlayback = TimeSpan.FromSeconds(9),
        StaleAfter = TimeSpan.FromSeconds(2),
        BreakerCooldown = TimeSpan.FromSeconds(1),
        BreakerLongestCooldown = TimeSpan.FromSeconds(4),
        ReceiveBufferBytes = 1024,
        DrainBytes = 1000,
    };

    private readonly ManualTimeProvider _clock = new();
    private readonly Turns _turns = new();
    private readonly Random _dice;
    private readonly Socket _socket;
    private readonly GlobalOperationLimiter _limiter;
    private readonly BandwidthLimiter _bandwidth;
    private readonly List<Account> _accounts = [];
    private readonly List<Fetch> _fetches = [];
    private readonly HashSet<Account> _touched = [];
    private int _granted;
    private long _progressAt;

    // How long bandwidth has been limited, and when that was last updated; waits may last that much longer.
    private long _limitedFor;
    private long _countedAt;

    /// <param name="dice">Determines every event.</param>
    /// <param name="socket">A <see cref="LeftSocket"/>; owned by the caller.</param>
    /// <param name="meter">Owned by the caller, because the process lists all meters and there are thousands of models.</param>
    public PoolModel(Random dice, Socket socket, NntpMeter meter)
    {
        (_dice, _socket) = (dice, socket);
        _limiter = new GlobalOperationLimiter(0, 80, _clock);
        _bandwidth = new BandwidthLimiter(_clock);
        var shared = new SharedResources(
            Options, _limiter, new HandshakeLimit(dice.Next(3, 5), _clock), meter, new ProviderMemory(_clock), _clock, NullLogger.Instance, names: null, DialAsync, _bandwidth);
        for (var count = dice.Next(1, 3); count > 0; count--)
        {
            var options = new ProviderOptions
            {
                Name = "model",
                Host = "model",
                Port = 1 + _accounts.Count,
                MaxConnections = dice.Next(1, 5),
                PipeliningDepth = dice.Next(4) is > 0 and var depth ? depth : null,
            };
            var server = new ModelServer(_clock, dice, server => _touched.Add(_accounts.Find(account => account.Server == server)!)) { Takes = dice.Next(1, 6) };
            _accounts.Add(new Account(options, server, new NntpConnectionPool(options, shared)));
        }

        _limiter.Returned += () => _accounts.ForEach(account => account.Pool.Pump());
        _bandwidth.Due += () => _accounts.ForEach(account => account.Pool.Pump());
        _limiter.Allow(_accounts.Sum(account => account.Options.MaxConnections));
    }

    /// <summary>Plays random steps, repairs the servers, and checks that every fetch is served and nothing is left.</summary>
    public void Run(int steps)
    {
        var before = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(_turns);
        try
        {
            for (var step = 0; step < steps; step++)
            {
                Act();
                Settle();
            }

            _accounts.ForEach(account => (account.Server.IsSound, account.Server.Takes) = (true, int.MaxValue));
            for (_progressAt = _clock.GetTimestamp(); _fetches.Count > 0;)
                Advance(MostWithoutProgress);
            Limit(0);
            _accounts.ForEach(CheckThatAllMayBeLeased);
            CheckThatNothingIsLeft();
            CheckThatAllServeAgain();
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(before);
        }
    }

    public void Dispose() => _bandwidth.Dispose();

    private void Act()
    {
        var account = Any(_accounts);
        switch (_dice.Next(42))
        {
            case < 16:
                Ask(account, Request());
                break;
            case < 28:
                Advance(TimeSpan.FromMilliseconds(_dice.Next(80)));
                break;
            case < 32:
                Advance(TimeSpan.FromMilliseconds(_dice.Next(6_000)));
                break;
            case < 34 when _fetches.Count > 0:
                Any(_fetches).Raise();
                break;
            case 34 when _fetches.Count > 0:
                Any(_fetches).Cancel();
                break;
            case 35 when account.Server.Counted.Count > 0:
                Any(account.Server.Counted).EndByServer();
                break;
            case 36:
                account.Server.Takes = _dice.Next(1, 6);
                break;
            case 37:
                Change(account, _dice.Next(1, 7));
                break;
            case 38:
                _limiter.Configure(_dice.Next(7), 80, _dice.Next(3));
                _touched.UnionWith(_accounts);
                break;
            case 39:
                account.Pool.SendAway();
                _touched.Add(account);
                break;
            default:
                Limit(_dice.Next(3) * 400_000);
                break;
        }
    }

    private bool IsLimited => _bandwidth.BytesPerSecond > 0;

    /// <summary>Changes the bandwidth limit and wakes the pools, as a timer would a moment later.</summary>
    private void Limit(long bytesPerSecond)
    {
        CountLimited();
        _bandwidth.Configure(bytesPerSecond);
        _touched.UnionWith(_accounts);
        _accounts.ForEach(account => account.Pool.Pump());
    }

    private void CountLimited()
    {
        var now = _clock.GetTimestamp();
        _limitedFor += IsLimited ? now - _countedAt : 0;
        _countedAt = now;
    }

    private ArticleRequest Request()
    {
        var lane = (OperationLane)_dice.Next(3);
        var urgency = lane == OperationLane.Playback && _dice.Next(8) > 0 ? new FetchUrgency(Readers[_dice.Next(Readers.Length)], _dice.Next(3) == 0) { Following = _dice.Next(3) * 2 } : null;
        var stats = _dice.Next(8) == 0 ? _dice.Next(1, 4) : 0;
        var body = _dice.Next(3) * 400_000;
        return new ArticleRequest(Id, lane, urgency, stats > 0 ? stats * StatLine : body) { Stats = stats, IsAlone = stats == 0 && _dice.Next(12) == 0 };
    }

    /// <summary>Changes the settings of an account, in the order that the engine uses for its accounts.</summary>
    private void Change(Account account, int connections)
    {
        account.Options = account.Options with { MaxConnections = connections, Password = _dice.Next(6) == 0 ? $"{_dice.Next(3)}" : account.Options.Password };
        account.Pool.Change(account.Options);
        _limiter.Allow(_accounts.Sum(each => each.Options.MaxConnections));
        _touched.UnionWith(_accounts);
    }

    private Fetch Ask(Account account, ArticleRequest request)
    {
        var fetch = new Fetch(this, account, request);
        if (_fetches.Count == 0)
            _progressAt = _clock.GetTimestamp();
        _fetches.Add(fetch);
        _touched.Add(account);
        fetch.Begin();
        return fetch;
    }

    private async Task<NntpTransport> DialAsync(ProviderOptions options, CancellationToken cancellationToken)
    {
        var account = _accounts[options.Port - 1];
        var stream = await account.Server.DialAsync(cancellationToken);
        return new NntpTransport(_socket, stream, Options.ReceiveBufferBytes);
    }

    /// <summary>Advances the clock.</summary>
    private void Advance(TimeSpan span)
    {
        for (var end = _clock.GetTimestamp() + span.Ticks; _clock.AdvanceToNext(TimeSpan.FromTicks(end - _clock.GetTimestamp()));)
            Settle();
    }

    /// <summary>Runs all due work and checks the result.</summary>
    private void Settle()
    {
        _turns.Run();
        foreach (var account in _touched.ToArray())
        {
            var before = (_granted, account.Pool.Sockets);
            account.Pool.Pump();
            _turns.Run();
            Assert.True(account.MaySpareInVain || IsLimited || before == (_granted, account.Pool.Sockets), $"A fetch or a dial was due and nothing woke it: {before} became {(_granted, account.Pool.Sockets)}.");
            account.MaySpareInVain = false;
        }

        _touched.Clear();
        foreach (var account in _accounts)
        {
            Assert.True(account.Server.Counted.Count <= account.Pool.Sockets, "The server counts more sockets than the pool.");
            Assert.True(account.Server.Idle <= account.Pool.Idle.Length, "A connection that owes nothing can be leased no more.");
        }

        var now = _clock.GetTimestamp();
        CountLimited();
        foreach (var fetch in _fetches)
        {
            if (fetch.Work is { IsFaulted: true } work)
                throw work.Exception!;
            Assert.True(fetch.IsHeld || now <= fetch.WaitsUntil, $"A fetch waits {_clock.GetElapsedTime(fetch.WaitsUntil, now)} beyond its deadline.");
            Assert.True(IsLimited || !fetch.IsStarved(_limiter), "A reader waits beside an idle connection and free permits.");
        }

        _accounts.ForEach(account => _progressAt = Math.Max(_progressAt, account.Server.HeardAt));
        Assert.True(_fetches.Count == 0 || _clock.GetElapsedTime(_progressAt, now) <= MostWithoutProgress, $"No progress for 10 s of {_fetches.Count} fetches.");
    }

    /// <summary>Checks that a fetch for each idle connection gets a connection of its own at once.</summary>
    private void CheckThatAllMayBeLeased(Account account)
    {
        _limiter.Configure(0, 80, 0);
        _turns.Run();
        var asked = Enumerable.Range(0, account.Server.Idle).Select(_ => Ask(account, new ArticleRequest(Id, OperationLane.Playback) { IsAlone = true })).ToArray();
        Settle();
        Assert.True(Array.TrueForAll(asked, fetch => fetch.IsHeld), "A connection that owes nothing is not leased.");
        while (_fetches.Count > 0)
            Advance(MostWithoutProgress);
    }

    /// <summary>Checks that no permit is left, and after the idle limits no socket and no timer.</summary>
    private void CheckThatNothingIsLeft()
    {
        Advance(Options.BackgroundStall);
        foreach (var lane in Enum.GetValues<OperationLane>())
            Assert.True(_limiter.InUse(lane) == 0, $"{_limiter.InUse(lane)} permits of {lane} left");
        Advance(TimeSpan.FromSeconds(40));
        foreach (var account in _accounts)
            Assert.True((account.Pool.Sockets, account.Server.Counted.Count) == (0, 0), $"{account.Pool.Sockets} sockets left, {account.Server.Counted.Count} at the server");
        Assert.True(_clock.Waiting == 0, $"{_clock.Waiting} timers left");
    }

    /// <summary>Checks that a repaired server is dialed and serves, whatever went wrong before.</summary>
    private void CheckThatAllServeAgain()
    {
        var asked = _accounts.ConvertAll(account => Ask(account, new ArticleRequest(Id, OperationLane.Playback)));
        Settle();
        while (_fetches.Count > 0)
            Advance(MostWithoutProgress);
        Assert.True(asked.TrueForAll(fetch => fetch.HasCome), "A sound server does not serve any more.");
    }

    private T Any<T>(List<T> list) => list[_dice.Next(list.Count)];

    /// <summary>A socket whose peer has closed, so a pool that leaves it sees the server's close at once. All models share one that none closes.</summary>
    internal sealed class LeftSocket : Socket
    {
        private bool _isReleased;

        public LeftSocket()
            : base(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified)
        {
            var end = new UnixDomainSocketEndPoint($"\0{Guid.NewGuid():N}");
            using var listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            listener.Bind(end);
            listener.Listen();
            Connect(end);
            listener.Accept().Dispose();
        }

        public void Release()
        {
            _isReleased = true;
            Dispose();
        }

        protected override void Dispose(bool disposing)
        {
            if (_isReleased)
                base.Dispose(disposing);
        }
    }

    private sealed class Account(ProviderOptions options, ModelServer server, NntpConnectionPool pool)
    {
        public ProviderOptions Options { get; set; } = options;

        public ModelServer Server => server;

        public NntpConnectionPool Pool => pool;

        /// <summary>
        /// Whether a connection may still be kept free for background work that has got one elsewhere. No pool is notified of that, but the
        /// pool learns it when the outstanding reply of the connection ends.
        /// </summary>
        public bool MaySpareInVain { get; set; }
    }

    /// <summary>One fetch, from its wait to its end.</summary>
    [SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle; the lease ends with the work.")]
    private sealed class Fetch(PoolModel model, Account account, ArticleRequest request) : IArticleSink
    {
        private readonly CancellationTokenSource _cancellation = new();
        private readonly ConnectionLease _lease = new(request);
        private BodyScanner _scanner = BodyScanner.AtStart;

        private readonly long _waitsUntil = model._clock.GetTimestamp() - model._limitedFor
            + (request.Urgency?.IsHeadOfLine == false ? Options.AheadTimeout : Options.LeaseTimeout).Ticks + Slack.Ticks;

        public long WaitsUntil => _waitsUntil + model._limitedFor;

        public bool IsHeld { get; private set; }

        public bool IsStarved(GlobalOperationLimiter limiter) => !IsHeld
            && request.Lane == OperationLane.Playback
            && request.Urgency?.IsHeadOfLine == true
            && account.Server.Idle > 0
            && limiter.Capacity - Enum.GetValues<OperationLane>().Sum(limiter.InUse) > 1;

        public bool HasCome { get; private set; }

        public Task? Work { get; private set; }

        public void Begin() => Work = RunAsync();

        public void Cancel()
        {
            _cancellation.Cancel();
            model._touched.Add(account);
        }

        public void Raise()
        {
            if (request.Urgency is null)
                return;
            request.Urgency.Raise();
            _lease.Raise();
            model._touched.Add(account);
        }

        void IArticleSink.Start(int provider) => _scanner = BodyScanner.AtStart;

        bool IArticleSink.Write(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);

        private async Task RunAsync()
        {
            try
            {
                using (_lease)
                {
                    await account.Pool.LeaseAsync(_lease, _cancellation.Token);
                    IsHeld = true;
                    model._granted++;
                    if (request.Lane != OperationLane.Playback)
                        model._accounts.ForEach(other => other.MaySpareInVain |= other != account);
                    Progress();
                    if (request.Stats > 0)
                        await _lease.AskAsync(new StatBatch(Enumerable.Repeat(Id, request.Stats).ToArray(), request.Lane), _cancellation.Token);
                    else
                        await _lease.FetchAsync(this, _cancellation.Token);
                    HasCome = true;
                }
            }
            catch (Exception error) when (error is NntpException or OperationCanceledException)
            {
                // The server had a fault, or the fetch was canceled.
            }

            model._fetches.Remove(this);
            Progress();
        }

        private void Progress()
        {
            model._progressAt = model._clock.GetTimestamp();
            model._touched.Add(account);
        }
    }
}
