using System.Globalization;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Server.Tests.Providers;

public sealed class ProviderHostTests : IAsyncDisposable
{
    private readonly LogLines _log = new(typeof(ProviderHost).FullName!);
    private readonly FixedOptions<UsenetOptions> _usenet = new(Options("""{"Providers":[]}"""));
    private readonly FixedOptions<StreamingOptions> _streaming = new(new StreamingOptions { VerifyBeforeServe = false });
    private readonly ProviderHost _host;

    public ProviderHostTests() =>
        _host = new ProviderHost(_usenet, _streaming, TimeProvider.System, _log, new BuiltInArticles(() => new BuiltInSource()));

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public async ValueTask DisposeAsync()
    {
        await _host.DisposeAsync();
        _log.Dispose();
    }

    [Theory]
    [InlineData(0, 100)]
    [InlineData(2, 2)]
    [InlineData(2000, 100)]
    public void Stream_limit_follows_the_setting_up_to_100(int wanted, int places)
    {
        var plan = ProviderPlan.From(
            Options("""{"Providers":[]}""") with { MaxStreams = wanted, ArticleBudgetBytes = 256L << 20 }, new StreamingOptions { VerifyBeforeServe = false }, 1L << 34, out _);
        Assert.Equal(places, plan.Streams.MaxStreams);
    }

    [Fact]
    public async Task Built_in_articles_answer_until_a_provider_is_configured()
    {
        Assert.False(_host.HasProviders);
        Assert.Equal(7, (await FetchAsync()).Provider);

        await using var mock = await MockServer.StartAsync();
        _usenet.Change(Options(Json(mock.Port)));

        Assert.True(_host.HasProviders);
        Assert.Equal(0, (await FetchAsync()).Provider);
        Assert.Equal(1, mock.Stats.CommandCount("BODY"));
    }

    [Fact]
    public async Task Built_in_articles_stay_if_all_providers_are_disabled()
    {
        _usenet.Change(Options("""{"Providers":[{"Host":"h","Type":0}]}"""));

        Assert.False(_host.HasProviders);
        Assert.Equal(7, (await FetchAsync()).Provider);
    }

    [Fact]
    public async Task Change_without_effect_keeps_connections_and_engine()
    {
        await using var mock = await MockServer.StartAsync();
        _usenet.Change(Options(Json(mock.Port)));
        await FetchAsync();
        var engine = _host.Engine;

        _usenet.Change(Options(Json(mock.Port)) with { StreamingReadTimeout = TimeSpan.FromSeconds(99) });
        await FetchAsync();

        Assert.Same(engine, _host.Engine);
        Assert.Equal(1, mock.Stats.Opened);
    }

    [Fact]
    public async Task New_engine_after_a_change_reuses_the_connections()
    {
        await using var mock = await MockServer.StartAsync();
        _usenet.Change(Options(Json(mock.Port)));
        await FetchAsync();
        var engine = _host.Engine;

        _streaming.Change(new StreamingOptions { VerifyBeforeServe = true });

        Assert.NotSame(engine, _host.Engine);
        await FetchAsync();
        Assert.Equal(1, mock.Stats.Opened);
    }

    [Fact]
    public async Task Startup_logs_the_outcome_for_each_provider()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { Providers = [new MockProvider { User = "u", Password = "p" }] });
        var free = ServerProcess.FreePort();
        _usenet.Change(Options(string.Create(
            CultureInfo.InvariantCulture,
            $$"""
            {"Providers":[
              {"Nickname":"good","Host":"127.0.0.1","Port":{{mock.Port}},"UseSsl":false,"User":"u","Pass":"p","MaxConnections":3},
              {"Nickname":"wrong","Host":"127.0.0.1","Port":{{mock.Port}},"UseSsl":false,"User":"u","Pass":"x"},
              {"Nickname":"absent","Host":"127.0.0.1","Port":{{free}},"UseSsl":false},
              {"Nickname":"off","Host":"127.0.0.1","Type":0},
              {"Nickname":"bad","Host":"127.0.0.1","Port":0}]}
            """)));

        _host.Start();

        var lines = new List<string>();
        for (var i = 0; i < 6; i++)
            lines.Add(await _log.NextAsync(Token));
        Assert.Single(lines, line => line.StartsWith("Check the settings: usenet.providers: element 4 is left out: Port must be", StringComparison.Ordinal));
        Assert.Single(lines, line => line.StartsWith($"good: connected to 127.0.0.1:{mock.Port} in ", StringComparison.Ordinal)
            && line.EndsWith(" ms (plain text, login accepted, 3 connections)", StringComparison.Ordinal));
        Assert.Single(lines, line => line.StartsWith("wrong: ", StringComparison.Ordinal) && line.Contains("refuses the username or password", StringComparison.Ordinal));
        Assert.Single(lines, line => line.StartsWith("absent: ", StringComparison.Ordinal) && line.Contains("cannot be reached", StringComparison.Ordinal));
        Assert.Single(lines, line => line == "off: disabled in the settings");
    }

    [Fact]
    public async Task Provider_changed_after_startup_is_tested_too()
    {
        await using var mock = await MockServer.StartAsync();
        _host.Start();
        Assert.StartsWith("No provider is configured", await _log.NextAsync(Token), StringComparison.Ordinal);

        _usenet.Change(Options(Json(mock.Port)) with { MaxDownloadConnections = 5, MaxQueueConnections = 2 });

        Assert.EndsWith(": 5 for playback, 2 for imports, 5 for health checks", await _log.NextAsync(Token), StringComparison.Ordinal);
        Assert.StartsWith("main: connected to 127.0.0.1", await _log.NextAsync(Token), StringComparison.Ordinal);
        await FetchAsync();
        Assert.Equal(1, mock.Stats.Opened);
    }

    [Theory]
    [InlineData(1L << 40, 256L << 20)]
    [InlineData(512L << 20, 128L << 20)]
    public void Byte_budget_stays_within_a_quarter_of_the_memory(long memory, long expected) =>
        Assert.Equal(expected, ProviderPlan.From(Options("""{"Providers":[]}"""), _streaming.CurrentValue, memory, out _).Streams.ByteBudget);

    private static UsenetOptions Options(string providers) => UsenetOptions.Read(
        new SettingsResolver(SettingSchema.All, new ProcessEnvironment(new Dictionary<string, string>()))
            .Resolve(new Dictionary<string, string> { ["usenet.providers"] = providers }));

    private static string Json(int port) => string.Create(
        CultureInfo.InvariantCulture, $$"""{"Providers":[{"Nickname":"main","Host":"127.0.0.1","Port":{{port}},"UseSsl":false}]}""");

    private async Task<ArticleReply> FetchAsync()
    {
        var id = new MockMessageId
        {
            Seed = 1,
            File = 0,
            Files = 1,
            Part = 1,
            Parts = 1,
            Begin = 0,
            Length = 1000,
            FileSize = 1000,
            Name = "film.mkv",
        };
        var reply = await _host.FetchAsync(new ArticleRequest(MessageId.Parse(id.ToString()), OperationLane.Playback), new DrainingSink(), Token);
        Assert.True(reply.IsFound);
        return reply;
    }

    /// <summary>A source that has every article, as provider 7.</summary>
    private sealed class BuiltInSource : IArticleSource
    {
        public int ProviderCount => 8;

        public ValueTask<ArticleReply> FetchAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken) =>
            ValueTask.FromResult(ArticleReply.FoundAt(7));

        public ValueTask StatAsync(StatRequest request, Memory<ArticlePresence> answers, CancellationToken cancellationToken)
        {
            answers.Span[..request.Ids.Length].Fill(new ArticlePresence(default(ProviderSet).With(7), default, default));
            return ValueTask.CompletedTask;
        }
    }
}
