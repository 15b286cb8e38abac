using System.Net;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Diagnostics;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Startup;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The log through the API.</summary>
public sealed class LogResourceTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Lines_are_filtered_and_searched()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var loggers = server.Server.Services.GetRequiredService<ILoggerFactory>();
        var queue = loggers.CreateLogger("Sluice.Server.Queue.StepRunner");
        Say(queue, LogLevel.Warning, "job-1 has gone to bed", id: "job-1");
        using (queue.BeginScope(new Dictionary<string, object?> { [LogRing.JobKey] = "job-2", [LogRing.StreamKey] = "stream-2" }))
            Say(queue, LogLevel.Error, "It has gone to work");
        Say(loggers.CreateLogger("Sluice.Usenet.Nntp.X"), LogLevel.Information, "no-job of another kind", id: "no-job");

        Assert.Equal(["It has gone to work", "job-1 has gone to bed"], await TextsAsync(server, "source=Queue&q=GONE+has"));
        Assert.Equal(["It has gone to work"], await TextsAsync(server, "source=Queue&level=error"));
        Assert.Equal(["job-1 has gone to bed"], await TextsAsync(server, "job=job-1"));
        Assert.Equal(["It has gone to work"], await TextsAsync(server, "job=job-2"));
        Assert.Equal(["It has gone to work"], await TextsAsync(server, "stream=stream-2"));
        Assert.Empty(await TextsAsync(server, "job=no-job"));
        var page = await server.GetAsync("logs");
        Assert.Contains("Nntp", page["sources"]!.AsArray().Select(source => source!.ToString()));
        Assert.Equal("information", page["level"]!.ToString());
        await server.SendAsync(HttpMethod.Get, "logs?level=loud", expected: HttpStatusCode.BadRequest);
        await server.SendAsync(HttpMethod.Get, "logs?cursor=x", expected: HttpStatusCode.BadRequest);
    }

    [Fact]
    public async Task Paging_back_is_stable_while_new_lines_arrive()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var logger = server.Server.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Sluice.Server.Test.X");
        for (var i = 0; i < 10; i++)
            Say(logger, LogLevel.Warning, $"line {i}", number: 100 + i);

        var first = await server.GetAsync("logs?source=Test&limit=4");
        Say(logger, LogLevel.Warning, "new");
        var second = await server.GetAsync($"logs?source=Test&limit=4&cursor={first["next"]}");
        var third = await server.GetAsync($"logs?source=Test&limit=4&cursor={second["next"]}");

        Assert.Equal(["line 9", "line 8", "line 7", "line 6"], Texts(first));
        Assert.Equal(["line 5", "line 4", "line 3", "line 2"], Texts(second));
        Assert.Equal(["line 1", "line 0"], Texts(third));
        Assert.Null(third["next"]);
        Assert.Equal((10, 11), (first["total"]!.GetValue<int>(), third["total"]!.GetValue<int>()));
    }

    [Fact]
    public async Task Temporary_log_level_expires_after_its_duration()
    {
        var time = new ManualTimeProvider();
        await using var running = await RunningServer.StartAsync(_temporary, replace: services => services.AddSingleton<TimeProvider>(time));
        var levels = running.Services.GetRequiredService<LogLevels>();
        var logger = running.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Sluice.Server.X");
        Assert.False(logger.IsEnabled(LogLevel.Debug));

        levels.Use(LogLevel.Debug);
        time.Advance(LogLevels.TemporaryDuration - TimeSpan.FromSeconds(1));
        Assert.True(logger.IsEnabled(LogLevel.Debug));
        time.Advance(TimeSpan.FromSeconds(1));

        Assert.False(logger.IsEnabled(LogLevel.Debug));
        Assert.Equal((LogLevel.Information, null), levels.Current);
    }

    [Fact]
    public async Task Log_level_can_be_raised_and_reset_by_the_API()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        var logger = server.Server.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Sluice.Server.X");

        var raised = await server.SendAsync(HttpMethod.Put, "logs/level", new JsonObject { ["level"] = "debug" });
        Assert.True(logger.IsEnabled(LogLevel.Debug));
        Assert.Equal("debug", raised["level"]!.ToString());
        Assert.NotNull(raised["until"]);
        var back = await server.SendAsync(HttpMethod.Put, "logs/level", new JsonObject { ["level"] = null });

        Assert.False(logger.IsEnabled(LogLevel.Debug));
        Assert.Equal(("information", (JsonNode?)null), (back["level"]!.ToString(), back["until"]));
    }

    [Fact]
    public async Task Log_download_masks_secrets()
    {
        await using var server = await ResourceServer.StartAsync(_temporary);
        Say(server.Server.Services.GetRequiredService<ILoggerFactory>().CreateLogger("Sluice.Server.X"), LogLevel.Warning, $"Key is {RunningServer.ApiKey}");

        using var answer = await server.Server.Client.GetAsync(new Uri("api/logs/download", UriKind.Relative), TestContext.Current.CancellationToken);
        var text = await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);

        Assert.Contains("Z warning     X: Key is ********\n", text, StringComparison.OrdinalIgnoreCase);
        Assert.DoesNotContain(RunningServer.ApiKey, text, StringComparison.Ordinal);
        Assert.Equal("sluice-log.txt", answer.Content.Headers.ContentDisposition?.FileNameStar);
    }

    /// <summary>Writes a log line like a room of the server.</summary>
    internal static void Say(ILogger logger, LogLevel level, string text, int number = 0, string? id = null) => logger.Log(
        level, new EventId(number), id is null ? [] : new KeyValuePair<string, object?>[] { new("Id", id) }, null, (_, _) => text);

    private static async Task<IEnumerable<string>> TextsAsync(ResourceServer server, string query) => Texts(await server.GetAsync($"logs?{query}"));

    private static IEnumerable<string> Texts(JsonNode page) => page["items"]!.AsArray().Select(line => line!["text"]!.ToString());
}
