using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using System.Text.RegularExpressions;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Auth;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The metrics for Prometheus (ADM-40, OPS-30 to OPS-32).</summary>
public sealed partial class MetricsTests : IDisposable
{
    private const string Film = "film.mkv";

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Only_a_named_key_can_read_the_metrics()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var store = server.Services.GetRequiredService<AdminStore>();
        var (_, key) = await store.MakeKeyAsync("prometheus", hasFullAccess: false, Token);
        await store.CreateAsync("admin", PasswordHash.Parse(QuickHash.Of("password"))!, "done", Token);
        var session = ("Cookie", $"{AdminDoor.CookieOf(store)}={await store.OpenSessionAsync(new SessionPlace("127.0.0.1", ""), Token)}");

        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "metrics", ("X-Api-Key", key)));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "metrics", ("Authorization", $"Bearer {key}")));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics"));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics", ("X-Api-Key", RunningServer.ApiKey)));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics", ("Authorization", $"Bearer {RunningServer.ApiKey}")));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, $"metrics?apikey={RunningServer.ApiKey}"));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics", ("Authorization", RunningServer.Basic("admin", RunningServer.Password).ToString())));
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics", ("Authorization", "Bearer")));

        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "metrics", session));

        // Everywhere else a session opens what the key does, and a bearer token is no login.
        Assert.Equal(HttpStatusCode.Unauthorized, await StatusAsync(server, "api/stats", ("Authorization", $"Bearer {key}")));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "api/stats", ("X-Api-Key", key)));
        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "api/stats", session));
    }

    [Fact]
    public async Task Guessed_keys_are_throttled()
    {
        await using var server = await RunningServer.StartAsync(_temporary);
        var statuses = new List<HttpStatusCode>();
        for (var guess = 0; guess < 11; guess++)
            statuses.Add(await StatusAsync(server, "metrics", ("Authorization", $"Bearer guess-{guess}")));

        Assert.All(statuses[..10], static status => Assert.Equal(HttpStatusCode.Unauthorized, status));
        Assert.Equal(HttpStatusCode.TooManyRequests, statuses[10]);
    }

    [Fact]
    public async Task Setting_makes_the_metrics_public()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["METRICS_REQUIRE_API_KEY"] = "false" });

        Assert.Equal(HttpStatusCode.OK, await StatusAsync(server, "metrics"));
        using var head = await server.Client.SendAsync(new HttpRequestMessage(HttpMethod.Head, "metrics"), Token);
        Assert.Equal("text/plain; version=0.0.4; charset=utf-8", head.Content.Headers.ContentType?.ToString());
        Assert.InRange(head.Content.Headers.ContentLength ?? 0, 1_000, 100_000);
        Assert.True(head.Headers.CacheControl?.NoStore);
    }

    [Fact]
    public async Task Safe_mode_answers_503()
    {
        await using var server = await RunningServer.StartAsync(_temporary, new() { ["METRICS_REQUIRE_API_KEY"] = "false" });
        server.Services.GetRequiredService<SafeMode>().EnterDamaged("sluice.db", "a page is damaged");

        Assert.Equal(HttpStatusCode.ServiceUnavailable, await StatusAsync(server, "metrics"));
    }

    [Fact]
    public async Task Metrics_match_the_documentation()
    {
        await using var server = await StreamServer.StartAsync(new() { ["METRICS_REQUIRE_API_KEY"] = "false" }, byteLimit: 1_000_000_000_000);
        await PlayAsync(server);
        await MakeBackupAsync(server.Api);
        var scraped = await ScrapeAsync(server.Api.Server);

        var rows = Row().Matches(File.ReadAllText(Repository.PathOf("docs/metrics.md"))).Select(static row => (
            row.Groups["name"].Value,
            row.Groups["type"].Value,
            string.Join(' ', row.Groups["label"].Captures.Select(static label => label.Value).Order()))).Order();
        Assert.Equal(rows, scraped.All.Select(static metric => (
            metric.Name,
            metric.Type,
            string.Join(' ', metric.Samples.SelectMany(static sample => sample.Labels.Keys).Where(static label => label != "le").Distinct().Order()))).Order());
    }

    [Fact]
    public async Task Metrics_count_events_and_name_no_file()
    {
        await using var server = await StreamServer.StartAsync(new() { ["METRICS_REQUIRE_API_KEY"] = "false" });
        await PlayAsync(server);
        while (server.Mock.Stats.Waiting > 0)
            await Task.Delay(TimeSpan.FromMilliseconds(5), TimeProvider.System, Token);
        // A request, a stream and an import are counted when they have ended, shortly after the client knows.
        string text;
        ScrapedMetrics scraped;
        do
            (text, scraped) = await ReadAsync();
        while (scraped.Sum("sluice_http_requests_total", ("edge", "webdav"), ("method", "GET"), ("status", "206")) == 0
            || scraped.Sum("sluice_imports_total") == 0
            || scraped.Sum("sluice_lane_bytes_total", ("lane", "playback")) == 0);

        Assert.Equal(5_000_000, scraped.Sum("sluice_stream_bytes_total"));
        Assert.Equal(1, scraped.Sum("sluice_stream_first_byte_seconds_count"));
        Assert.InRange(scraped.Sum("sluice_provider_bytes_total"), server.Mock.Stats.Bytes * 0.999, server.Mock.Stats.Bytes * 1.001);
        Assert.Equal(scraped.Sum("sluice_provider_bytes_total"), scraped.Sum("sluice_lane_bytes_total"));
        Assert.InRange(scraped.Sum("sluice_lane_bytes_total", ("lane", "playback")), 4_900_000, server.Mock.Stats.Bytes);
        Assert.InRange(scraped.Sum("sluice_provider_time_to_first_byte_seconds_count"), 1, server.Mock.Stats.Articles);
        Assert.Equal(server.Mock.Stats.Articles, scraped.Sum("sluice_provider_articles_total", ("result", "found")));
        Assert.Equal((1, 0), (scraped.Sum("sluice_imports_total", ("result", "completed")), scraped.Sum("sluice_imports_total", ("result", "failed"))));
        Assert.Equal(6, scraped.Sum("sluice_import_step_seconds_count"));
        Assert.Equal(0, scraped.Sum("sluice_queue_items"));
        Assert.Equal(1, scraped.Sum("sluice_http_requests_total", ("edge", "webdav"), ("method", "GET"), ("status", "206")));
        Assert.Equal(8, scraped.Sum("sluice_provider_connection_limit", ("kind", "configured")));
        Assert.Equal(1, scraped.Sum("sluice_build_info"));
        Assert.InRange(scraped.Sum("sluice_db_write_seconds_count"), 1, 10_000);
        Assert.InRange(scraped.Sum("process_resident_memory_bytes"), 1 << 20, 1L << 40);
        Assert.DoesNotContain(Film, text, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("film-1", text, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain("127.0.0.1", text, StringComparison.Ordinal);
        Assert.DoesNotContain(RunningServer.ApiKey, text, StringComparison.Ordinal);

        async Task<(string, ScrapedMetrics)> ReadAsync()
        {
            var answer = await server.Api.Server.Client.GetStringAsync("metrics", Token);
            return (answer, ScrapedMetrics.Parse(answer));
        }
    }

    [Fact]
    public async Task Failed_imports_are_counted_by_reason()
    {
        await using var server = await StreamServer.StartAsync(new() { ["METRICS_REQUIRE_API_KEY"] = "false" });
        using var client = new SluiceClient(server.Api.Server.Address.Port, "admin", RunningServer.Password, RunningServer.ApiKey);
        var lost = Encoding.UTF8.GetString(MockRelease.Plain(9, 2_000_000, articleSize: 100_000).ToNzb()).Replace("@", "@gone.", StringComparison.Ordinal);
        await client.AddFileAsync("movies", "lost", Encoding.UTF8.GetBytes(lost), Token);
        ScrapedMetrics scraped;
        do
            scraped = await ScrapeAsync(server.Api.Server);
        while (scraped.Sum("sluice_imports_total") == 0);

        Assert.Equal(1, scraped.Sum("sluice_imports_total", ("result", "failed"), ("reason", "dead-post")));
    }

    [Fact]
    public async Task Ten_providers_stay_below_two_thousand_series()
    {
        var providers = string.Join(',', Enumerable.Range(0, 10).Select(static number => $$"""{"Nickname":"{{(number < 3 ? "New\\\"s" : $"p{number}")}}","Host":"127.0.0.{{number + 2}}","Port":1,"UseSsl":false,"MaxConnections":2}"""));
        await using var server = await RunningServer.StartAsync(
            _temporary, new() { ["METRICS_REQUIRE_API_KEY"] = "false", ["SLUICE_CONFIG__USENET__PROVIDERS"] = $$"""{"Providers":[{{providers}}]}""" });
        // Every method and status at every edge, and methods that do not exist.
        foreach (var method in (string[])["GET", "HEAD", "PUT", "DELETE", "PROPFIND", "OPTIONS", "LOCK", "MOVE", "COPY", "MKCOL", "BREW", "SPILL"])
        {
            foreach (var path in (string[])["", "content/", "content/x", "api", "api/stats", "api/none", "healthz", "metrics", "queue", "assets/x", "view/x"])
                (await server.Client.SendAsync(new HttpRequestMessage(new HttpMethod(method), path), Token)).Dispose();
        }

        var scraped = await ScrapeAsync(server);

        Assert.InRange(scraped.Samples.Count(), 400, 2_000);
        string[] names = ["New\"s", "New\"s 2", "New\"s 3", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];
        Assert.Equal(names, scraped.Samples.Where(static sample => sample.Name == "sluice_provider_bytes_total").Select(static sample => sample.Labels["provider"]));
        Assert.NotEqual(0, scraped.Sum("sluice_http_requests_total", ("method", "other")));
    }

    [Fact]
    public async Task Promtool_reports_no_problems()
    {
        ExternalProgram.Require("promtool");
        await using var server = await StreamServer.StartAsync(new() { ["METRICS_REQUIRE_API_KEY"] = "false" });
        await PlayAsync(server);
        await MakeBackupAsync(server.Api);
        var text = await server.Api.Server.Client.GetStringAsync("metrics", Token);

        using var promtool = ExternalProgram.Start("promtool", ["check", "metrics"], null);
        await promtool.StandardInput.WriteAsync(text.AsMemory(), Token);
        promtool.StandardInput.Close();
        var output = await promtool.StandardOutput.ReadToEndAsync(Token) + await promtool.StandardError.ReadToEndAsync(Token);
        await promtool.WaitForExitAsync(Token);
        Assert.Equal((0, ""), (promtool.ExitCode, output));
    }

    /// <summary>Makes a backup, and waits until it is verified.</summary>
    internal static async Task MakeBackupAsync(ResourceServer api)
    {
        await api.SendAsync(HttpMethod.Post, "backups", new JsonObject(), HttpStatusCode.Accepted);
        while ((await api.GetAsync("backups"))["items"]!.AsArray().Count == 0)
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    internal static async Task PlayAsync(StreamServer server)
    {
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 5_000_000, articleSize: 100_000));
        await StreamServer.ReadAsync(server.Player(StreamServer.Vlc), path, 0, 4_999_999);
    }

    private static async Task<ScrapedMetrics> ScrapeAsync(RunningServer server) => ScrapedMetrics.Parse(await server.Client.GetStringAsync("metrics", Token));

    private static async Task<HttpStatusCode> StatusAsync(RunningServer server, string path, params (string Name, string Value)[] headers)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, path);
        foreach (var (name, value) in headers)
            request.Headers.TryAddWithoutValidation(name, value);
        using var answer = await server.Client.SendAsync(request, Token);
        return answer.StatusCode;
    }

    [GeneratedRegex(@"^\| `(?<name>[a-z_]+)` \| (?<type>counter|gauge|histogram) \| ((`(?<label>[a-z]+)`(, )?)* )?\|", RegexOptions.Multiline)]
    private static partial Regex Row();
}
