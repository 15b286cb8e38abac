using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Http.Headers;
using System.Text.Json;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.Chaos;

/// <summary>
/// Readers of every kind run for minutes while one provider lacks and damages articles, another breaks the protocol behind TLS, the news
/// servers fail once a minute, settings change and the wall clock jumps by years. No byte is wrong, no answer ends normally but short,
/// and outside the outages almost every answer is whole.
/// </summary>
[Collection(EndToEndRun.Name)]
public sealed class ChaosTests : IAsyncDisposable
{
    private const int ArticleSize = 32_000;
    private const int Articles = 3_000;
    private const int Films = 4;
    private const long FilmSize = ((long)Articles * ArticleSize) - 777;
    private const int Readers = 8;
    private const int PausingReaders = 12;
    private const int Cap = 8;
    private const double ProtocolChaos = 0.015;
    private static readonly int[] Holes = [411, 1997];
    private static readonly TimeSpan OutageEvery = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan OutageLasts = TimeSpan.FromSeconds(6);

    // Readers may still fail this long after an outage, because breakers and caps must retry first.
    private static readonly TimeSpan Recovery = TimeSpan.FromSeconds(12);
    private static readonly TimeSpan KillEvery = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan SettingsEvery = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan JumpEvery = TimeSpan.FromSeconds(20);
    private static readonly TimeSpan SampleEvery = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan LongestHeaders = TimeSpan.FromSeconds(3);

    private static readonly FaultKind[] Protocol =
    [
        FaultKind.CommandGarbage, FaultKind.Command400, FaultKind.Command480, FaultKind.Command502, FaultKind.Command503, FaultKind.CommandOtherId,
        FaultKind.CommandLong, FaultKind.CommandDrip, FaultKind.CommandHalf, FaultKind.CommandSlow, FaultKind.BodyReset, FaultKind.BodyEmpty,
        FaultKind.BodyTakedown, FaultKind.BodyPackets, FaultKind.BodyStall,
    ];

    private readonly ShiftedClock _clock = new();
    private readonly ChaosTally _tally = new();
    private readonly Heartbeat _time = new();
    private readonly List<(TimeSpan At, long Resident, int Descriptors)> _samples = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Category", EndToEndRun.Chaos)]
    public Task Three_minutes_of_chaos_serve_no_wrong_byte() => RunAsync(Plain, TimeSpan.FromMinutes(3), longestPause: TimeSpan.FromSeconds(40));

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Twenty_minutes_of_chaos_serve_no_wrong_byte() => RunAsync(Plain, TimeSpan.FromMinutes(20), longestPause: TimeSpan.FromSeconds(60));

    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public Task Twenty_minutes_of_chaos_on_archives_serve_no_wrong_byte() => RunAsync(Archives, TimeSpan.FromMinutes(20), longestPause: TimeSpan.FromSeconds(60));

    /// <summary>Every 30 seconds the server is killed or stopped, alternately, while the readers continue.</summary>
    [Fact]
    [Trait("Category", EndToEndRun.Lengthy)]
    public async Task Twenty_minutes_on_archives_with_kills_serve_no_wrong_byte()
    {
        var length = TimeSpan.FromMinutes(20);
        var films = Archives.ToList();
        await using var set = await MockedServer.StartAsync(new MockOptions { Providers = [Lossy, Chaotic with { Tls = MockTls.None }], CacheBytes = 64 << 20 }, null, Token);
        foreach (var film in films)
            await film.PublishAsync(set.Client, Token);

        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var address = new Uri($"http://127.0.0.1:{set.Server.Port}/");
        var readers = Enumerable.Range(0, Readers).Select(i => new ChaosReader(address, films, _tally, _time, seed: i + 1, longestPause: null)).ToList();
        ends.CancelAfter(length);
        await Task.WhenAll([.. readers.Select(reader => reader.RunAsync(ends.Token)), EachAsync(KillEvery, KillEvery, kill => RestartAsync(set, kill), ends.Token)]);
        readers.ForEach(reader => reader.Dispose());

        TestContext.Current.TestOutputHelper!.WriteLine(_tally.Summary());
        Assert.Empty(_tally.Wrong);
        set.Mock.Change(0, provider => provider with { Missing = ArticleSelection.None, Corrupt = ArticleSelection.None });
        set.Mock.Change(1, provider => provider with { Faults = [] });
        using var client = new HttpClient { BaseAddress = address };
        await AssertSoundAsync(client, films);
    }

    public ValueTask DisposeAsync() => _time.DisposeAsync();

    private static IEnumerable<ChaosFilm> Plain =>
        Enumerable.Range(1, Films).Select(number => ChaosFilm.Plain(number, FilmSize, ArticleSize, Holes));

    private static IEnumerable<ChaosFilm> Archives =>
        new[] { "rar5", "rar5-enc", "7z", "7z-enc", "rar4", "nested" }.Select((layout, number) => ChaosFilm.InArchive(layout, 100 + number, FilmSize / 2, ArticleSize));

    private async Task RunAsync(IEnumerable<ChaosFilm> some, TimeSpan length, TimeSpan longestPause)
    {
        var films = some.ToList();
        using var folder = new TemporaryFolder();
        await using var mock = await MockServer.StartAsync(new MockOptions
        {
            Providers = [Lossy, Chaotic],
            Missing = ArticleSelection.Parts(Holes),
            CacheBytes = 64 << 20,
        });

        // Less than half the size of the films, so that reads reach the news servers and not the cache, yet enough to admit every reader.
        var variables = new Dictionary<string, string> { ["SLUICE_CONFIG__USENET__IN_FLIGHT_ARTICLE_BUDGET_MB"] = "160" };
        await using var server = await RunningServer.StartAsync(
            folder, variables, replace: services => services.Replace(ServiceDescriptor.Singleton<TimeProvider>(_clock)));
        await SaveAsync(server, ("usenet.providers", Accounts(mock, Cap)));
        await PublishAsync(server, mock, films);

        using var ends = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var readers = Enumerable.Range(0, Readers + PausingReaders)
            .Select(i => new ChaosReader(server.Address, films, _tally, _time, seed: i + 1, i < Readers ? null : longestPause)).ToList();
        ends.CancelAfter(length);
        await Task.WhenAll([.. readers.Select(reader => reader.RunAsync(ends.Token)), .. Disturb(server, mock, ends.Token)]);
        readers.ForEach(reader => reader.Dispose());

        await AssertSoundAfterwardsAsync(server, mock, films);
        Report(mock, length);
        AssertHeld(mock, length);
    }

    private static MockProvider Lossy => new()
    {
        User = "u",
        Password = "p",
        MaxConnections = Cap,
        Latency = TimeSpan.FromMilliseconds(20),
        Jitter = TimeSpan.FromMilliseconds(5),
        ConnectionBandwidth = 3_000_000,
        NoticesAfter = TimeSpan.FromMilliseconds(200),
        Missing = ArticleSelection.Share(0.08),
        Corrupt = ArticleSelection.Share(0.01),
    };

    private static MockProvider Chaotic => Lossy with
    {
        Tls = MockTls.Valid,
        Missing = ArticleSelection.None,
        Corrupt = ArticleSelection.None,
        Faults =
        [
            .. Protocol.Select(kind => new MockFault
            {
                Kind = kind,
                Verb = "BODY",
                Rate = ProtocolChaos / Protocol.Length,
                Duration = kind switch
                {
                    FaultKind.BodyStall => TimeSpan.FromSeconds(9),
                    FaultKind.CommandSlow => TimeSpan.Zero,
                    _ => null,
                },
            }),
            new MockFault { Kind = FaultKind.CommandSlow, Verb = "DATE", Rate = 0.2, Duration = TimeSpan.FromMilliseconds(400) },
        ],
    };

    private IEnumerable<Task> Disturb(RunningServer server, MockServer mock, CancellationToken end) =>
    [
        EachAsync(JumpEvery, JumpEvery, jump => { _clock.SetApart(TimeSpan.FromDays(jump % 2 == 0 ? 730 : -730)); return Task.CompletedTask; }, end),
        EachAsync(TimeSpan.FromSeconds(75), SettingsEvery, change => ChangeSettingsAsync(server, mock, change), end),
        EachAsync(TimeSpan.FromSeconds(35), OutageEvery, outage => FailAsync(mock, outage, end), end),
        EachAsync(SampleEvery, SampleEvery, _ => { Sample(); return Task.CompletedTask; }, end),
    ];

    private static async Task EachAsync(TimeSpan first, TimeSpan every, Func<int, Task> act, CancellationToken end)
    {
        try
        {
            await Task.Delay(first, TimeProvider.System, end);
            for (var i = 0; ; i++)
            {
                await act(i);
                await Task.Delay(every, TimeProvider.System, end);
            }
        }
        catch (OperationCanceledException) when (end.IsCancellationRequested)
        {
        }
    }

    private async Task FailAsync(MockServer mock, int outage, CancellationToken end)
    {
        var from = _time.Now;
        var cut = new MockFault { Kind = FaultKind.BodyReset, Count = 0, Offset = 1_000 };
        try
        {
            switch (outage % 5)
            {
                case 0:
                    mock.ChangeFaults([cut with { Provider = 0 }]);
                    break;
                case 1:
                    mock.ChangeFaults([cut]);
                    break;
                case 2:
                    ChangeBoth(mock, provider => provider with { Latency = TimeSpan.FromMilliseconds(400) });
                    break;
                case 3:
                    ChangeBoth(mock, provider => provider with { Stall = 0.6, StallTime = OutageLasts });
                    break;
                default:
                    mock.ChangeFaults([new MockFault { Kind = FaultKind.PolicyDown }]);
                    break;
            }

            await Task.Delay(OutageLasts, TimeProvider.System, end);
        }
        finally
        {
            mock.ChangeFaults([]);
            ChangeBoth(mock, provider => provider with { Latency = Lossy.Latency, Stall = 0 });
            _tally.Outage(from, _time.Now + Recovery);
        }
    }

    private static void ChangeBoth(MockServer mock, Func<MockProvider, MockProvider> change)
    {
        for (var i = 0; i < 2; i++)
            mock.Change(i, change);
    }

    private static Task ChangeSettingsAsync(RunningServer server, MockServer mock, int change) => (change % 3) switch
    {
        0 => SaveAsync(server, ("streaming.verify-before-serve", change % 2 == 0 ? "true" : "false")),
        1 => SaveAsync(server, ("usenet.providers", Accounts(mock, Cap - 2)), ("streaming.verify-before-serve", "false")),
        _ => SaveAsync(server, ("usenet.providers", Accounts(mock, Cap)), ("usenet.streaming-stall-seconds", "5")),
    };

    private static async Task SaveAsync(RunningServer server, params (string Key, string Value)[] values)
    {
        var store = server.Services.GetRequiredService<SettingsStore>();
        Assert.Empty(await store.SaveAsync(values.ToDictionary(value => value.Key, value => (string?)value.Value), Token));
    }

    private static string Accounts(MockServer mock, int cap) => JsonSerializer.Serialize(new
    {
        Providers = mock.Ports.Select((port, at) => new
        {
            Nickname = $"chaos-{at}",
            Host = "127.0.0.1",
            Port = port,
            UseSsl = at == 1,
            SkipTlsVerification = true,
            User = "u",
            Pass = "p",
            MaxConnections = cap,
            Type = 1,
            Priority = 0,
        }),
    });

    private static async Task PublishAsync(RunningServer server, MockServer mock, List<ChaosFilm> films)
    {
        using var client = new SluiceClient(server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey);
        foreach (var film in films)
            await film.PublishAsync(client, Token);
        Assert.Equal(2, mock.Ports.Count);
    }

    private async Task RestartAsync(MockedServer set, int kill)
    {
        var from = _time.Now;
        if (kill % 2 == 0)
            await set.Server.KillAsync();
        else
            Assert.Equal(0, await set.Server.StopAsync(Token));
        await set.RestartAsync(null, Token);
        _tally.Outage(from, _time.Now + Recovery);
    }

    /// <summary>
    /// Measures memory after a collection, because readers, films and news servers share the process: their garbage of 340 to 480 MB would
    /// hide memory that the server retains.
    /// </summary>
    private void Sample()
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        using var process = Process.GetCurrentProcess();
        lock (_samples)
            _samples.Add((_time.Now, process.WorkingSet64, Directory.GetFiles("/proc/self/fd").Length));
    }

    // With all faults repaired, every existing byte can be read once breakers and caps have retried.
    private static async Task AssertSoundAfterwardsAsync(RunningServer server, MockServer mock, List<ChaosFilm> films)
    {
        mock.Change(1, provider => provider with { Faults = [] });
        ChangeBoth(mock, provider => provider with { ConnectionBandwidth = 0 });
        await AssertSoundAsync(server.Client, films);
    }

    private static async Task AssertSoundAsync(HttpClient client, List<ChaosFilm> films)
    {
        client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", RunningServer.Password);
        var healed = TimeProvider.System.GetTimestamp();
        await Task.WhenAll(films.Select(async film =>
        {
            foreach (var (from, count) in film.Sound())
            {
                while (!await TryReadAsync(client, film, from, count))
                {
                    Assert.True(TimeProvider.System.GetElapsedTime(healed) < Recovery, $"{film.Path} from {from} is still not to be had {Recovery} after the run");
                    await Task.Delay(TimeSpan.FromMilliseconds(500), TimeProvider.System, Token);
                }
            }
        }));
    }

    /// <summary>Reads and compares a range; false if the server refuses or aborts it.</summary>
    private static async Task<bool> TryReadAsync(HttpClient client, ChaosFilm film, long from, int count)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, film.Path) { Headers = { Range = new RangeHeaderValue(from, from + count - 1) } };
        byte[] read;
        try
        {
            using var answer = await client.SendAsync(request, Token);
            if (answer.StatusCode != HttpStatusCode.PartialContent)
                return false;
            read = await answer.Content.ReadAsByteArrayAsync(Token);
        }
        catch (Exception cut) when (cut is IOException or HttpRequestException)
        {
            return false;
        }

        var truth = new byte[count];
        film.Fill(from, truth);
        Assert.True(truth.AsSpan().SequenceEqual(read), $"wrong bytes in {film.Path} from {from} after the run");
        return true;
    }

    private void Report(MockServer mock, TimeSpan length)
    {
        var output = TestContext.Current.TestOutputHelper!;
        output.WriteLine(_tally.Summary());
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"sockets at most {string.Join(", ", mock.ProviderStats.Select(stats => stats.ConnectionsPeak))}, refused {mock.Stats.Refused}; faults: {string.Join(", ", mock.Stats.Faults.Select(fault => $"{fault.Key} {fault.Value}"))}"));
        var (early, late) = (Minute(TimeSpan.FromMinutes(2)), Minute(length - TimeSpan.FromMinutes(1)));
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"resident {early.Resident / 1e6:0} MB in minute 3, {late.Resident / 1e6:0} MB in the last; descriptors {early.Descriptors:0}, {late.Descriptors:0}"));
        output.WriteLine(string.Create(CultureInfo.InvariantCulture, $"resident, a mean of each minute: {string.Join(", ", Enumerable.Range(0, (int)length.TotalMinutes).Select(minute => $"{Minute(TimeSpan.FromMinutes(minute)).Resident / 1e6:0}"))} MB"));
    }

    private void AssertHeld(MockServer mock, TimeSpan length)
    {
        Assert.Empty(_tally.Wrong);
        var undisturbed = _tally.Undisturbed();
        Assert.InRange(undisturbed.Count, (int)(length.TotalMinutes * 200), int.MaxValue);
        var good = undisturbed.Count(request => request.End is ChaosEnd.Whole or ChaosEnd.AtHole);
        Assert.True(good >= 0.99 * undisturbed.Count, $"{undisturbed.Count - good} of {undisturbed.Count} requests outside outages were cut or refused.\n{_tally.Summary()}");
        Assert.True(_tally.Headers(0.99) <= LongestHeaders, $"p99 of headers is {_tally.Headers(0.99)}.\n{_tally.Summary()}");
        foreach (var stats in mock.ProviderStats)
            Assert.InRange(stats.ConnectionsPeak, 1, Cap);
        Assert.Empty(Protocol.Where(kind => mock.ProviderStats[1].FaultCount(kind) == 0).Select(FaultNames.Of));
        if (length < TimeSpan.FromMinutes(6))
            return;
        var (early, late) = (Minute(TimeSpan.FromMinutes(2)), Minute(length - TimeSpan.FromMinutes(1)));
        Assert.InRange(late.Resident, 0, 1.1 * early.Resident);
        Assert.InRange(late.Descriptors - early.Descriptors, -10, 10);
    }

    private (double Resident, double Descriptors) Minute(TimeSpan from)
    {
        lock (_samples)
        {
            var samples = _samples.Where(sample => sample.At >= from && sample.At < from + TimeSpan.FromMinutes(1)).DefaultIfEmpty(_samples[^1]).ToList();
            return (samples.Average(sample => (double)sample.Resident), samples.Average(sample => (double)sample.Descriptors));
        }
    }
}
