using System.Text;
using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Fetching;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>
/// F10, F11: a provider accepts connections and never sends a greeting. After one fetch has waited in vain, the next fetches do not wait. The
/// clock only moves for that one wait.
/// </summary>
public sealed class MuteProviderTests
{
    private const int Articles = 60;

    private static readonly NntpOptions Options = new();

    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory(Timeout = 60_000)]
    [InlineData(OperationLane.Playback)]
    [InlineData(OperationLane.Import)]
    public async Task F10_Mute_first_provider_costs_one_wait_and_no_hedge(OperationLane lane)
    {
        await using var host = await StartAsync(mute: 1);
        var fetches = Enumerable.Range(1, Articles / 2).Select(part => FetchAsync(host, part, lane)).ToArray();
        await Eventually.HoldsAsync(() => host.Mock.ProviderStats[0].Opened > 0, () => "nothing was dialled", Token);
        Assert.DoesNotContain(fetches, static fetch => fetch.IsCompleted);

        _time.Advance(Options.HedgeWait);
        await Task.WhenAll(fetches);
        await Task.WhenAll(Enumerable.Range((Articles / 2) + 1, Articles / 2).Select(part => FetchAsync(host, part, lane)));

        Assert.Equal([0, Articles], BodiesOf(host));
        Assert.Equal(0, host.Counters.Hedges);
    }

    /// <summary>The same scenario on the system clock, which prints the time until the first megabyte (docs/bars.md).</summary>
    [Fact(Timeout = 60_000)]
    public async Task F10_First_megabyte_is_read_despite_a_mute_provider()
    {
        await using var host = await StartAsync(mute: 1, TimeProvider.System);
        var began = TimeProvider.System.GetTimestamp();
        await using var stream = host.Open();
        var read = new byte[1_000_000];
        await stream.ReadExactlyAsync(read, Token);
        TestContext.Current.TestOutputHelper?.WriteLine($"first megabyte after {TimeProvider.System.GetElapsedTime(began).TotalMilliseconds:0} ms");
        Assert.Equal(host.Truth(0, read.Length), read);
        Assert.Equal(0, BodiesOf(host)[0]);
    }

    [Fact(Timeout = 60_000)]
    public async Task F10_Two_mute_providers_cost_two_waits()
    {
        await using var host = await StartAsync(mute: 2);
        var fetches = Enumerable.Range(1, Articles).Select(part => FetchAsync(host, part, OperationLane.Playback)).ToArray();
        for (var provider = 0; provider < 2; provider++)
        {
            var asked = host.Mock.ProviderStats[provider];
            await Eventually.HoldsAsync(() => asked.Opened > 0, () => "nothing was dialled", Token);
            _time.Advance(Options.HedgeWait);
        }

        await Task.WhenAll(fetches);
        Assert.Equal([0, 0, Articles], BodiesOf(host));
    }

    [Fact(Timeout = 60_000)]
    public async Task F10_STAT_skips_a_mute_provider_after_one_wait()
    {
        await using var host = await StartAsync(mute: 1);
        var asking = host.StatAsync(1, Articles);
        await Eventually.HoldsAsync(() => host.Mock.ProviderStats[0].Opened > 0, () => "nothing was dialled", Token);
        _time.Advance(Options.HedgeWait);
        Assert.All(await asking, static answer => Assert.True(answer.Has.Contains(1)));
    }

    [Fact(Timeout = 60_000)]
    public async Task Provider_with_a_late_greeting_is_preferred_again()
    {
        using var greets = new ManualResetEventSlim();
        var asked = 0;
        await using var slow = new ScriptedServer(connection =>
        {
            greets.Wait(connection.Stopping);
            connection.Send("200 ready\r\n"u8);
            while (true)
            {
                if (Encoding.ASCII.GetString(connection.ReadCommand()).StartsWith("BODY", StringComparison.Ordinal))
                    Interlocked.Increment(ref asked);
                connection.Send("430 no such article\r\n"u8);
            }
        });
        await using var sound = await EngineHost.StartAsync(EngineHost.Film(3));
        ProviderOptions[] accounts =
        [
            new ProviderOptions { Name = "slow", Host = "127.0.0.1", Port = slow.Port, UseTls = false, MaxConnections = 1, Priority = 0 },
            sound.Accounts[0] with { Priority = 1 },
        ];
        await using var pool = new ProviderPool(accounts, Options, new GlobalOperationLimiter(time: _time), _time, NullLoggerFactory.Instance);

        var first = FetchAsync(pool, sound, 1, OperationLane.Playback);
        await Eventually.HoldsAsync(() => slow.Accepted > 0, () => "nothing was dialled", Token);
        _time.Advance(Options.HedgeWait);
        await first;
        await FetchAsync(pool, sound, 2, OperationLane.Playback);
        Assert.Equal(0, Volatile.Read(ref asked));

        greets.Set();
        await Eventually.HoldsAsync(() => pool.Look(0).Open > 0, () => "the dial has not ended", Token);
        await FetchAsync(pool, sound, 3, OperationLane.Playback);
        Assert.Equal(1, Volatile.Read(ref asked));
    }

    [Fact(Timeout = 60_000)]
    public async Task Lone_provider_with_a_late_greeting_serves_the_fetch()
    {
        using var greets = new ManualResetEventSlim();
        await using var host = await EngineHost.StartAsync(EngineHost.Film(1));
        await using var slow = new ScriptedServer(connection =>
        {
            greets.Wait(connection.Stopping);
            connection.Send("200 ready\r\n"u8);
            connection.ReadCommand();
            connection.Send("430 no such article\r\n"u8);
            connection.ReadCommand();
        });
        var account = new ProviderOptions { Name = "slow", Host = "127.0.0.1", Port = slow.Port, UseTls = false, MaxConnections = 1 };
        await using var pool = new ProviderPool([account], Options, new GlobalOperationLimiter(time: _time), _time, NullLoggerFactory.Instance);
        var fetch = pool.FetchAsync(RequestOf(host, 1, OperationLane.Playback), new SoleWriterSink(), Token).AsTask();
        await Eventually.HoldsAsync(() => slow.Accepted > 0, () => "nothing was dialled", Token);
        _time.Advance(3 * Options.HedgeWait);
        greets.Set();
        Assert.False((await fetch).IsFound);
    }

    private static int[] BodiesOf(EngineHost host) => [.. host.Mock.ProviderStats.Select(static stats => (int)stats.CommandCount("BODY"))];

    private Task<EngineHost> StartAsync(int mute, TimeProvider? time = null) => EngineHost.StartAsync(
        EngineHost.Film(Articles),
        new MockOptions
        {
            Providers = [.. Enumerable.Range(0, mute + 1).Select(_ => new MockProvider())],
            Faults = [.. Enumerable.Range(0, mute).Select(provider => new MockFault { Kind = FaultKind.GreetingNone, Provider = provider, Tries = 0 })],
        },
        Options,
        nntpTime: time ?? _time);

    private static Task FetchAsync(EngineHost host, int part, OperationLane lane) => FetchAsync(host.Pool, host, part, lane);

    private static async Task FetchAsync(ProviderPool pool, EngineHost host, int part, OperationLane lane)
    {
        var file = host.Release.Files[0];
        var sink = new SoleWriterSink();
        Assert.True((await pool.FetchAsync(RequestOf(host, part, lane), sink, Token)).IsFound);
        sink.AssertIs(host.Truth((long)(part - 1) * file.ArticleSize, (int)Math.Min(file.ArticleSize, file.Size - ((long)(part - 1) * file.ArticleSize))));
    }

    private static ArticleRequest RequestOf(EngineHost host, int part, OperationLane lane) =>
        new(MessageId.Parse(host.Release.MessageId(0, part)), lane, new FetchUrgency(host, isHeadOfLine: part % 2 == 1), host.Release.Files[0].ArticleSize);
}
