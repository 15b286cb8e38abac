using System.Globalization;
using System.Net;
using System.Text.Json.Nodes;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Each wait reason of a playback on a real server, caused by the news server or the client.</summary>
public sealed class WaitReasonTests
{
    // Hedging is off, because articles that are late on a busy machine would cause a wait reason of their own.
    private static readonly KeyValuePair<string, string> NoSecondQuestion = new("SLUICE_CONFIG__USENET__HEDGE__ENABLED", "false");

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Unreachable_provider_is_reported_as_provider_down()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, ArticleSizes.Small);
        server.Mock.ChangeFaults([new MockFault { Kind = FaultKind.PolicyDown }]);

        await AssertWaitsAsync(server, path, "provider-down", null);
    }

    [Fact]
    public async Task Retried_late_article_is_reported_as_article_retry()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, ArticleSizes.Small);
        server.Mock.ChangeFaults([new MockFault { Kind = FaultKind.CommandSlow, Duration = TimeSpan.Zero, Verb = "BODY" }]);

        var detail = await AssertWaitsAsync(server, path, "article-retry", "ms");

        Assert.InRange(detail["retries"]!.GetValue<int>(), 1, 2);
        Assert.InRange(server.Mock.Stats.CommandCount("BODY"), 2, 100);
    }

    [Fact]
    public async Task Slow_provider_is_reported_as_provider_slow()
    {
        await using var server = await StreamServer.StartAsync(new([NoSecondQuestion]));
        var path = await PublishAsync(server, ArticleSizes.Large);
        server.Mock.Change(0, provider => provider with { ConnectionBandwidth = 40_000 });

        var detail = await AssertWaitsAsync(server, path, "provider-slow", "ms");

        Assert.Equal("loopback-0", detail["articles"]![0]!["provider"]!.ToString());
        Assert.Matches("^f+$", detail["map"]!["cells"]!.ToString().Trim('-', 'm', 'd'));
    }

    [Fact]
    public async Task Connections_all_in_use_are_reported_as_provider_slots()
    {
        await using var server = await StreamServer.StartAsync(new([NoSecondQuestion, new("SLUICE_CONFIG__USENET__STREAMING_BODY_BATCH_WIDTH", "1")]), connections: 1);
        var path = await PublishAsync(server, ArticleSizes.Large);
        server.Mock.Change(0, provider => provider with { ConnectionBandwidth = 20_000 });
        var bodies = server.Mock.Stats.CommandCount("BODY");
        var first = Begin(server, "mpv/0.38", path, 2_000_000);
        while (server.Mock.Stats.CommandCount("BODY") == bodies)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);

        var detail = await AssertWaitsAsync(server, path, "provider-slots", "connections");

        Assert.Equal(1, detail["wait"]!["value"]!.GetValue<double>());
        Assert.Empty(detail["articles"]!.AsArray());
        await EndAsync(first);
    }

    [Fact]
    public async Task Saturated_line_is_reported_as_line_full()
    {
        await using var server = await StreamServer.StartAsync(new([NoSecondQuestion]));
        var path = await PublishAsync(server, ArticleSizes.Small);
        server.Mock.Change(0, provider => provider with { Bandwidth = 1_000_000 });
        using var answer = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 0);
        await using var body = await answer.Content.ReadAsStreamAsync(Token);
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        var reading = body.CopyToAsync(Stream.Null, enough.Token);

        var detail = await server.WaitForAsync("VLC", "line-full");

        Assert.Equal("bytes-per-second", detail["wait"]!["unit"]!.ToString());
        await enough.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await reading);
    }

    [Fact]
    public async Task Bandwidth_limit_is_reported_as_the_wait_reason()
    {
        await using var server = await StreamServer.StartAsync();
        var path = await PublishAsync(server, ArticleSizes.Large);
        await server.Api.SaveAsync(HttpStatusCode.OK, ("usenet.bandwidth-limit-mbps", "1"));

        var detail = await AssertWaitsAsync(server, path, "limit", "bytes-per-second");

        Assert.Equal(125_000, detail["wait"]!["value"]!.GetValue<double>());
    }

    [Fact]
    public async Task Memory_used_by_other_streams_is_reported_as_wait_reason()
    {
        const int Others = 11;
        await using var server = await StreamServer.StartAsync(new([NoSecondQuestion, new("SLUICE_CONFIG__USENET__IN_FLIGHT_ARTICLE_BUDGET_MB", "64")]));
        var path = await PublishAsync(server, ArticleSizes.Huge);
        var answers = new List<HttpResponseMessage>();
        for (var other = 0; other < Others; other++)
            answers.Add(await StreamServer.OpenAsync(server.Player(string.Create(CultureInfo.InvariantCulture, $"other/{other}.0")), path, 0));
        server.Mock.Change(0, provider => provider with { ConnectionBandwidth = 400_000 });

        var detail = await AssertWaitsAsync(server, path, "other-streams", "streams");

        Assert.Equal(Others + 1, detail["wait"]!["value"]!.GetValue<double>());
        answers.ForEach(static answer => answer.Dispose());
    }

    [Fact]
    public async Task Busy_processor_is_reported_as_cpu()
    {
        await using var server = await StreamServer.StartAsync(processor: clock => TimeSpan.FromTicks(clock.GetTimestamp() * Environment.ProcessorCount));
        var path = await PublishAsync(server, ArticleSizes.Large);
        server.Mock.Change(0, provider => provider with { ConnectionBandwidth = 40_000 });

        var detail = await AssertWaitsAsync(server, path, "cpu", "percent");

        Assert.Equal(100, detail["wait"]!["value"]!.GetValue<double>());
    }

    private enum ArticleSizes
    {
        Small = 100_000,
        Large = 700_000,
        Huge = 2_000_000,
    }

    private static async Task<string> PublishAsync(StreamServer server, ArticleSizes size) =>
        "content/" + await server.PublishAsync(MockRelease.Plain(1, 40_000_000, articleSize: (int)size));

    /// <summary>Reads at an uncached offset until the playback waits for the reason.</summary>
    private static async Task<JsonNode> AssertWaitsAsync(StreamServer server, string path, string reason, string? unit)
    {
        var player = Begin(server, StreamServer.Vlc, path, 30_000_000);
        var detail = await server.WaitForAsync("VLC", reason);
        Assert.Equal(unit, detail["wait"]!["unit"]?.ToString());
        Assert.Equal(unit is null, detail["wait"]!["value"] is null);
        Assert.Equal("playing", detail["item"]!["state"]!.ToString());
        await EndAsync(player);
        return detail;
    }

    private static (Task Reading, CancellationTokenSource Enough) Begin(StreamServer server, string agent, string path, long from)
    {
        var enough = CancellationTokenSource.CreateLinkedTokenSource(Token);
        return (ReadAsync(server.Player(agent), enough.Token), enough);

        async Task ReadAsync(HttpClient player, CancellationToken token)
        {
            using var request = new HttpRequestMessage(HttpMethod.Get, new Uri(path, UriKind.Relative)) { Headers = { Range = new(from, null) } };
            using var answer = await player.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, token);
            await using var body = await answer.Content.ReadAsStreamAsync(token);
            await body.CopyToAsync(Stream.Null, token);
        }
    }

    private static async Task EndAsync((Task Reading, CancellationTokenSource Enough) player)
    {
        await player.Enough.CancelAsync();
        try
        {
            await player.Reading;
        }
        catch (Exception failure) when (failure is OperationCanceledException or IOException or HttpRequestException)
        {
            // The test has aborted the request.
        }

        player.Enough.Dispose();
    }
}
