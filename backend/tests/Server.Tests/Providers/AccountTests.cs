using System.Globalization;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>An account never exceeds its connections, even if settings change while films play (F06, CFG-5).</summary>
public sealed class AccountTests : IAsyncLifetime
{
    private const int Cap = 4;
    private const int Articles = 60;
    private const int ArticleSize = 50_000;

    private static readonly MockRelease Release = MockRelease.Plain(3, Articles * ArticleSize, articleSize: ArticleSize);
    private static readonly byte[] Truth = ReadTruth();

    private readonly FixedOptions<StreamingOptions> _streaming = new(new StreamingOptions { VerifyBeforeServe = false });
    private readonly LogLines _log = new(typeof(ProviderHost).FullName!);
    private FixedOptions<UsenetOptions> _usenet = null!;
    private MockServer _mock = null!;
    private ProviderHost _host = null!;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask InitializeAsync()
    {
        _mock = await MockServer.StartAsync(new MockOptions
        {
            // Slow enough that a film uses every connection it may have.
            Providers = [new MockProvider { User = "u", Password = "p", Latency = TimeSpan.FromMilliseconds(10), ConnectionBandwidth = 2_000_000 }],
        });
        _usenet = new FixedOptions<UsenetOptions>(Settings(Account()));
        _host = new ProviderHost(_usenet, _streaming, TimeProvider.System, _log);
    }

    public async ValueTask DisposeAsync()
    {
        await _host.DisposeAsync();
        await _mock.DisposeAsync();
        _log.Dispose();
    }

    [Fact(Timeout = 60_000)]
    public async Task Setting_change_during_playback_keeps_the_connection_cap()
    {
        await using var first = Open();
        await ReadAsync(first, 0, 200_000);

        _streaming.Change(new StreamingOptions { VerifyBeforeServe = true });
        await using var second = Open();

        await Task.WhenAll(ReadAsync(first, 200_000, Truth.Length - 200_000), ReadAsync(second, 0, Truth.Length));
        Assert.InRange(_mock.Stats.ConnectionsPeak, 2, Cap);
        Assert.Equal(0, _mock.Stats.Refused);
    }

    [Fact(Timeout = 60_000)]
    public async Task Three_changes_with_paused_films_keep_the_connection_cap()
    {
        var films = new List<Stream>();
        for (var i = 0; i < 3; i++)
        {
            films.Add(Open());
            await ReadAsync(films[i], 0, 100_000);
            _usenet.Change(_usenet.CurrentValue with { StreamingStall = TimeSpan.FromSeconds(10 + i) });
        }

        films.Add(Open());
        await Task.WhenAll(films.Select((film, i) => i < 3 ? ReadAsync(film, 100_000, Truth.Length - 100_000) : ReadAsync(film, 0, Truth.Length)));
        Assert.InRange(_mock.Stats.ConnectionsPeak, 2, Cap);
        Assert.Equal(0, _mock.Stats.Refused);
        foreach (var film in films)
            await film.DisposeAsync();
    }

    [Fact(Timeout = 60_000)]
    public async Task Import_limit_still_applies_after_a_setting_change()
    {
        _usenet.Change(_usenet.CurrentValue with { MaxQueueConnections = 1 });
        var before = Enumerable.Range(1, 20).Select(part => FetchAsync(part, OperationLane.Import)).ToArray();
        _streaming.Change(new StreamingOptions { VerifyBeforeServe = true });
        var after = Enumerable.Range(21, 20).Select(part => FetchAsync(part, OperationLane.Import)).ToArray();

        // A late reply on a busy machine may open one more connection, which the limiter leaves idle.
        await Task.WhenAll([.. before, .. after]);
        Assert.Equal(1, _mock.Stats.BusyPeak);
        Assert.InRange(_mock.Stats.ConnectionsPeak, 1, 2);
    }

    [Fact(Timeout = 60_000)]
    public async Task Lower_cap_closes_idle_connections_now_and_busy_ones_later()
    {
        // Hedging is off, because a busy machine is slow at times and a repeated request would count as a lost article.
        _usenet.Change(_usenet.CurrentValue with { HedgeEnabled = false });
        await using var film = Open();
        await ReadAsync(film, 0, 200_000);
        await UntilAsync(() => _mock.Stats.ConnectionsNow == Cap, () => $"{_mock.Stats.ConnectionsNow} connections before");
        _usenet.Change(Settings(Account(connections: 2)) with { HedgeEnabled = false });

        // No article in progress is lost, and later reads respect the new cap.
        await ReadAsync(film, 200_000, Truth.Length - 200_000);
        await UntilAsync(() => _mock.Stats.ConnectionsNow <= 2, () => $"{_mock.Stats.ConnectionsNow} connections after");
        Assert.Equal(0, _mock.Stats.CancelledBodies);
        Assert.Equal(Articles, _mock.Stats.Articles);

        _usenet.Change(Settings(Account(connections: 1)));
        await UntilAsync(() => _mock.Stats.ConnectionsNow == 1, () => $"{_mock.Stats.ConnectionsNow} connections at the end");
    }

    [Fact(Timeout = 60_000)]
    public async Task New_password_applies_to_new_connections_and_old_ones_close()
    {
        await using var film = Open();
        await ReadAsync(film, 0, 200_000);
        var logins = _mock.Stats.CommandCount("AUTHINFO PASS");
        _mock.Change(0, settings => settings with { Password = "new" });

        _usenet.Change(Settings(Account(password: "new")));
        await using var next = Open();
        await Task.WhenAll(ReadAsync(film, 200_000, Truth.Length - 200_000), ReadAsync(next, 0, Truth.Length));

        Assert.InRange(_mock.Stats.ConnectionsPeak, 2, Cap);
        Assert.Equal(0, _mock.Stats.CancelledBodies);
        Assert.InRange(_mock.Stats.CommandCount("AUTHINFO PASS"), logins + 1, logins + Cap);
        await UntilAsync(() => _mock.Stats.ConnectionsNow <= _mock.Stats.CommandCount("AUTHINFO PASS") - logins, () => "an old connection is still open");
    }

    [Fact(Timeout = 60_000)]
    public async Task Corrected_password_is_used_at_once()
    {
        _usenet.Change(Settings(Account(password: "wrong")));
        await Assert.ThrowsAsync<NntpException>(() => FetchAsync(1, OperationLane.Playback));

        _usenet.Change(Settings(Account()));
        await FetchAsync(1, OperationLane.Playback);
        Assert.Equal(1, _mock.Stats.CommandCount("BODY"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Connections_of_two_entries_for_one_account_are_added_up()
    {
        _usenet.Change(Settings(Account(connections: 1), Account(connections: 2, priority: 1)));
        await using var film = Open();
        await ReadAsync(film, 0, Truth.Length);
        Assert.Equal(3, _mock.Stats.ConnectionsPeak);
        Assert.Equal(0, _mock.Stats.Refused);
    }

    [Fact(Timeout = 60_000)]
    public async Task Two_entries_of_one_account_request_a_missing_article_once()
    {
        _usenet.Change(Settings(Account(connections: 1), Account(connections: 2, priority: 1)));
        _mock.ChangeMissing(ArticleSelection.All);
        var request = new ArticleRequest(MessageId.Parse(Release.MessageId(0, 1)), OperationLane.Playback, ExpectedBytes: ArticleSize);
        Assert.False((await _host.FetchAsync(request, new DrainingSink(), Token)).IsFound);
        Assert.Equal(1, _mock.Stats.CommandCount("BODY"));
    }

    [Fact(Timeout = 60_000)]
    public async Task Removed_account_finishes_running_work_and_then_closes()
    {
        await using var other = await MockServer.StartAsync();
        await using (var film = Open())
        {
            await ReadAsync(film, 0, 200_000);
            _usenet.Change(Settings($$"""{"Host":"127.0.0.1","Port":{{other.Port}},"UseSsl":false,"MaxConnections":3}"""));
            await ReadAsync(film, 200_000, Truth.Length - 200_000);
            Assert.Equal(0, other.Stats.Opened);
            await using var next = Open();
            await ReadAsync(next, 0, Truth.Length);
        }

        // Counts distinct articles, because a busy machine may request a late one again.
        Assert.Equal(Articles, _mock.Stats.Bodies.Count);
        Assert.InRange(_mock.Stats.Articles, Articles, Articles * 1.05);
        Assert.InRange(other.Stats.Bodies.Count, Articles - 2, Articles);
        await UntilAsync(() => _mock.Stats.ConnectionsNow == 0, () => $"{_mock.Stats.ConnectionsNow} connections of the removed account");
    }

    [Fact(Timeout = 60_000)]
    public async Task Received_bytes_are_counted_across_setting_changes()
    {
        await using var film = Open();
        await ReadAsync(film, 0, 200_000);
        _streaming.Change(new StreamingOptions { VerifyBeforeServe = true });
        await ReadAsync(film, 200_000, Truth.Length - 200_000);
        Assert.InRange(_host.BytesReceived, Truth.Length, long.MaxValue);
    }

    private static byte[] ReadTruth()
    {
        var bytes = new byte[Articles * ArticleSize];
        Release.Fill(0, 0, bytes);
        return bytes;
    }

    private static async Task ReadAsync(Stream film, int from, int count)
    {
        var bytes = new byte[count];
        await film.ReadExactlyAsync(bytes, Token);
        Assert.True(bytes.AsSpan().SequenceEqual(Truth.AsSpan(from, count)), $"wrong bytes in {count} from {from}");
    }

    private static async Task UntilAsync(Func<bool> condition, Func<string> seen)
    {
        var started = TimeProvider.System.GetTimestamp();
        while (!condition())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(10), seen());
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        }
    }

    private static UsenetOptions Settings(params string[] accounts) => UsenetOptions.Read(
        new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>()))
            .Resolve(new Dictionary<string, string>
            {
                ["usenet.providers"] = $$"""{"Providers":[{{string.Join(',', accounts)}}]}""",
                // Each film fetches its own articles, one request at a time.
                ["usenet.shared-streams.enabled"] = "false",
                ["usenet.streaming-body-batch-width"] = "1",
            }));

    private string Account(int connections = Cap, string password = "p", int priority = 0) => string.Create(
        CultureInfo.InvariantCulture,
        $$"""{"Host":"127.0.0.1","Port":{{_mock.Port}},"UseSsl":false,"User":"u","Pass":"{{password}}","MaxConnections":{{connections}},"Priority":{{priority}}}""");

    private ReadOnlyStream Open() => _host.Engine.Open([FileExtent.Whole(new PostedFile(SegmentMap.Uniform(Articles, ArticleSize, Truth.Length), new Ids()))], OperationLane.Playback);

    private async Task FetchAsync(int part, OperationLane lane)
    {
        var id = MessageId.Parse(Release.MessageId(0, part));
        var reply = await _host.FetchAsync(new ArticleRequest(id, lane, ExpectedBytes: ArticleSize), new DrainingSink(), Token);
        Assert.True(reply.IsFound);
    }

    private sealed class Ids : ISegmentIds
    {
        private readonly IReadOnlyList<string> _ids = Release.MessageIds(0);

        public int Count => _ids.Count;

        public ValueTask<SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => new(new SegmentIds(MessageId.Parse(_ids[index]), []));
    }
}
