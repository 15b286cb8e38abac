using System.Net;
using System.Text;
using System.Text.Json.Nodes;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.AdminApi;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Settings;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Server.Tests.Startup;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>No secret appears in logs, warnings, events, lists, the SABnzbd API, the support bundle, metrics, or the readable files of a backup (S4, S7, CFG-54).</summary>
public sealed class SecretAnswerTests : IDisposable
{
    private const string SetupCode = "CNRY-2M9X";

    private static readonly Dictionary<string, string> Values = new()
    {
        ["api.key"] = "canary01-canary01",
        ["api.nzb-key"] = "canary02-canary02",
        ["api.strm-key"] = "canary03-canary03",
        ["webdav.pass"] = "canary04-canary04",
        ["webdav.static-download-key"] = "canary05-canary05",
        ["rclone.pass"] = "canary06-canary06",
        ["backup.passphrase"] = "canary12-canary12",
        ["api.archive-passwords"] = "canary07-canary07",
        ["usenet.providers"] = """{"Providers":[{"Nickname":"one","Host":"127.0.0.1","Port":1,"UseSsl":false,"User":"canary08-canary08","Pass":"canary09-canary09","MaxConnections":2,"Type":1}]}""",
        ["arr.instances"] = """{"SonarrInstances":[{"Host":"http://sonarr:8989","ApiKey":"canary10-canary10"}]}""",
    };

    private static readonly string[] Canaries = [.. Enumerable.Range(1, 12).Select(i => $"canary{i:00}-canary{i:00}"), SetupCode];

    private static readonly string[] SabModes =
        ["queue", "history", "warnings", "status", "fullstatus", "status&name=fullstatus", "get_config", "server_stats", "get_cats", "version"];

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Secrets_appear_in_no_log_event_or_response()
    {
        var variables = Values.ToDictionary(value => SettingsResolver.OverrideName(value.Key), value => value.Value);
        variables["SLUICE_SETUP_CODE"] = SetupCode;
        await using var server = await RunningServer.StartAsync(_temporary, variables);
        Assert.Empty(SettingSchema.All.Where(definition => definition.Secret).Select(definition => definition.Key).Except(Values.Keys));
        var (_, read) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("read", hasFullAccess: false, Token);
        server.Client.DefaultRequestHeaders.Add("X-Api-Key", read);
        using var stream = await EventStreamClient.WatchAsync(server.Client, "topics=setup,stats,streams,providers,files,queue,history,logs,config");
        var seen = new List<(string Where, string Text)>();
        for (var i = 0; i < 9; i++)
            await NoteFrameAsync();

        await ProvokeAsync(server);
        // Wait for the last log line and for the item of the indexer address, which may be in the queue or already in the history.
        while (!WasSeen("the last line") || !WasSeen("Comes from an indexer"))
            await NoteFrameAsync();
        foreach (var path in Lists(server))
        {
            using var answer = await server.Client.GetAsync(path, Token);
            // The rescue exists only in safe mode.
            Assert.Equal(path == "/api/rescue" ? HttpStatusCode.NotFound : HttpStatusCode.OK, answer.StatusCode);
            if (answer.Content.Headers.ContentType?.MediaType == "application/zip")
                await NoteBundleAsync(path);
            else
                seen.Add((path, await answer.Content.ReadAsStringAsync(Token)));
        }

        seen.Add(("metrics", await server.Client.GetStringAsync("metrics", Token)));
        seen.AddRange(await BackUpAsync(server));

        foreach (var mode in SabModes)
            seen.Add((mode, await server.Client.GetStringAsync($"api?apikey={Values["api.key"]}&output=json&mode={mode}", Token)));

        // A provider's user name is masked only in log lines, because the provider form shows it.
        var found = seen.SelectMany(text => Canaries.Where(canary => text.Text.Contains(canary, StringComparison.OrdinalIgnoreCase)).Select(canary => (canary, text.Where)));
        Assert.DoesNotContain(found, hit => hit is not ("canary08-canary08", "event providers" or "/api/providers/"));
        // The lines with secrets were in the responses, so the check above could fail.
        var warnings = seen.Single(text => text.Where == "warnings").Text;
        Assert.Contains("said ******** by", warnings, StringComparison.Ordinal);
        Assert.Contains("no administrator yet", seen.Single(text => text.Where.TrimEnd('/') == "/api/logs").Text, StringComparison.Ordinal);

        Assert.Contains("said ******** by", seen.Single(text => text.Where == "/api/system/support-bundle?names=true log.txt").Text, StringComparison.Ordinal);
        Assert.Contains("Film", seen.Single(text => text.Where == "accepted.jsonl").Text, StringComparison.Ordinal);

        async Task NoteBundleAsync(string path)
        {
            foreach (var query in (string[])["", "?names=true"])
            {
                var files = await SupportBundleTests.UnpackAsync(await server.Client.GetByteArrayAsync(path + query, Token));
                seen.AddRange(files.Select(file => ($"{path}{query} {file.Key}", file.Value)));
            }
        }

        bool WasSeen(string part) => seen.Exists(text => text.Text.Contains(part, StringComparison.Ordinal));

        async Task NoteFrameAsync()
        {
            var frame = await stream.ReadAsync();
            seen.Add(($"event {frame.Topic}", frame.Data!.ToJsonString()));
        }
    }

    /// <summary>Causes everything that may reveal a secret: log lines with each of them, and an NZB address with a key.</summary>
    private static async Task ProvokeAsync(RunningServer server)
    {
        var (_, full) = await server.Services.GetRequiredService<AdminStore>().MakeKeyAsync("full", hasFullAccess: true, Token);
        using var client = new HttpClient { BaseAddress = server.Address };
        client.DefaultRequestHeaders.Add("X-Api-Key", full);
        using var form = new MultipartFormDataContent { { new ByteArrayContent(NzbText.Of("a.mkv")), "file", "Film.nzb" } };
        using var added = await client.PostAsync(new Uri("/api/queue", UriKind.Relative), form, Token);
        Assert.Equal(HttpStatusCode.OK, added.StatusCode);
        var address = new JsonObject { ["url"] = "http://indexer.invalid/get?apikey=canary11-canary11", ["name"] = "Comes from an indexer" };
        using var body = new StringContent(address.ToJsonString(), Encoding.UTF8, "application/json");
        using var fetched = await client.PostAsync(new Uri("/api/queue/address", UriKind.Relative), body, Token);
        Assert.Equal(HttpStatusCode.OK, fetched.StatusCode);

        var loggers = server.Services.GetRequiredService<ILoggerFactory>();
        // Each secret has a log source of its own, so that no line is dropped as a repetition.
        foreach (var canary in Canaries.Where(canary => canary != "canary11-canary11"))
        {
            var logger = loggers.CreateLogger($"Sluice.Server.Providers.{canary[..8]}");
            LogResourceTests.Say(logger, LogLevel.Information, $"A line that has said {canary} by mistake");
            logger.Log(LogLevel.Error, new EventId(1), "", new InvalidOperationException(canary), (_, _) => $"A failure that has said {Uri.EscapeDataString(canary)} by mistake");
        }

        LogResourceTests.Say(loggers.CreateLogger("Sluice.Server.Providers.X"), LogLevel.Warning, "the last line");
    }

    /// <summary>Makes a backup, and returns its manifest and the names of the accepted NZBs.</summary>
    private async Task<List<(string, string)>> BackUpAsync(RunningServer server)
    {
        var maker = server.Services.GetRequiredService<BackupMaker>();
        var backup = await Task.Run(() => maker.Make(BackupKind.Manual, Token), Token);
        return [("manifest.json", await File.ReadAllTextAsync(Path.Combine(backup.Path, BackupManifest.FileName), Token)), ("accepted.jsonl", await File.ReadAllTextAsync(_temporary.Folder.Accepted, Token))];
    }

    /// <summary>Returns the path of every GET call without an id.</summary>
    private static IEnumerable<string> Lists(RunningServer server) => server.Services.GetRequiredService<EndpointDataSource>().Endpoints.OfType<RouteEndpoint>()
        .Where(route => route.Metadata.GetMetadata<AdminEndpoint>() is not null && route.Metadata.GetMetadata<HttpMethodMetadata>() is { HttpMethods: ["GET"] })
        .Select(route => route.RoutePattern.RawText!)
        .Where(path => !path.Contains('{', StringComparison.Ordinal) && path != "/api/events");
}
