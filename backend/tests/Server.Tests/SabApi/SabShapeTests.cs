using System.Globalization;
using System.Text.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Responses have every field of the contract with its type, under any culture (SAB-90).</summary>
public sealed class SabShapeTests : IDisposable
{
    // The samples in sections 4 and 5 of docs/contracts/sabnzbd.md.
    private const string QueueSample =
        """
        {"queue":{"version":"5.0.4","paused":false,"pause_int":"0","paused_all":false,"diskspace1":"412.55","diskspace2":"412.55",
         "diskspacetotal1":"931.51","diskspacetotal2":"931.51","diskspace1_norm":"412.6 G","diskspace2_norm":"412.6 G","speedlimit":"100",
         "speedlimit_abs":"0","have_warnings":"0","finishaction":null,"quota":"0 B","have_quota":false,"left_quota":"0 B","cache_art":"0",
         "cache_size":"0 B","kbpersec":"1296.02","speed":"1.3 M","mb":"8125.40","mbleft":"4062.70","size":"7.9 GB","sizeleft":"4.0 GB",
         "status":"Downloading","timeleft":"0:00:09","noofslots_total":1,"noofslots":1,"start":0,"limit":0,"finish":0,
         "slots":[{"index":0,"nzo_id":"SABnzbd_nzo_9b1c","unpackopts":"3","priority":"Normal","script":"None","filename":"Some.Release.2026",
          "labels":[],"password":"","cat":"movies","mb":"8125.40","mbleft":"4062.70","size":"7.9 GB","sizeleft":"4.0 GB","percentage":"50",
          "mbmissing":"0.00","direct_unpack":null,"status":"Downloading","timeleft":"0:00:09","avg_age":"12d","time_added":1767434400}]}}
        """;

    private const string HistorySample =
        """
        {"history":{"total_size":"1.2 T","month_size":"310.4 G","week_size":"88.0 G","day_size":"9.1 G","ppslots":0,"noofslots":1,
         "last_history_update":4711,"version":"5.0.4",
         "slots":[{"completed":1767434467,"name":"Some.Release.2026","nzb_name":"Some.Release.2026.nzb","category":"movies","pp":"D","script":"None",
          "report":"","url":"","status":"Completed","nzo_id":"SABnzbd_nzo_9b1c","storage":"/mnt/sluice/completed-symlinks/movies/Some.Release.2026",
          "path":"/mnt/sluice/completed-symlinks/movies/Some.Release.2026","script_line":"","download_time":2,"postproc_time":0,
          "stage_log":[{"name":"Unpack","actions":["MapArchives 412 ms, 1 set, 81 volumes"]}],"downloaded":8519680000,"completeness":null,
          "fail_message":"","url_info":"","bytes":8412345678,"size":"7.8 GB","meta":null,"series":"","duplicate_key":"","md5sum":"","password":"",
          "action_line":"","loaded":false,"retry":false,"archive":false,"time_added":1767434460}]}}
        """;

    private static readonly DateTimeOffset Time = DateTimeOffset.FromUnixTimeSeconds(1767434460);

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("en-US")]
    [InlineData("de-DE")]
    [InlineData("ar-SA")]
    public async Task Queue_fields_and_types_match_the_contract(string culture)
    {
        await using var host = await ProductHost.StartAsync(_folder, null, Under(culture));
        await host.Get<SluiceDatabase>().InsertAsync(QueueStore.Insert, new QueueItem
        {
            Id = "SABnzbd_nzo_9b1c",
            Name = "Some.Release.2026",
            NzbName = "Some.Release.2026.nzb",
            Category = "movies",
            Folder = "movies",
            NzbHash = new string('0', 64),
            Paused = true,
            EncodedBytes = 8_520_099_430,
            PostedAt = TimeProvider.System.GetUtcNow().AddDays(-12.5),
            AddedAt = Time,
        });

        var queue = await host.CallAsync("mode=queue", Token);

        AssertSameShape(JsonDocument.Parse(QueueSample).RootElement, queue, "");
        var slot = queue.GetProperty("queue").GetProperty("slots")[0];
        Assert.Equal("8125.40", slot.GetProperty("mb").GetString());
        Assert.Equal("8125.40", queue.GetProperty("queue").GetProperty("mbleft").GetString());
        Assert.Equal("7.9 GB", slot.GetProperty("size").GetString());
        Assert.Equal("12d", slot.GetProperty("avg_age").GetString());
        Assert.Equal("0:00:00", slot.GetProperty("timeleft").GetString());
        Assert.Equal("Paused", slot.GetProperty("status").GetString());
        Assert.Equal(1767434460, slot.GetProperty("time_added").GetInt64());
        Assert.Matches(@"^\d+\.\d\d$", queue.GetProperty("queue").GetProperty("diskspace1").GetString());
        Assert.Equal("Idle", queue.GetProperty("queue").GetProperty("status").GetString());
    }

    [Theory]
    [InlineData("en-US")]
    [InlineData("de-DE")]
    [InlineData("ar-SA")]
    public async Task History_fields_and_types_match_the_contract(string culture)
    {
        await using var host = await ProductHost.StartAsync(_folder, null, Under(culture));
        await host.Get<SluiceDatabase>().InsertAsync(HistoryStore.Insert, Item("SABnzbd_nzo_9b1c", "Some.Release.2026"));

        var history = await host.CallAsync("mode=history", Token);

        AssertSameShape(JsonDocument.Parse(HistorySample).RootElement, history, "");
        var slot = history.GetProperty("history").GetProperty("slots")[0];
        Assert.Equal("/mnt/sluice/completed-symlinks/movies/Some.Release.2026", slot.GetProperty("storage").GetString());
        Assert.Equal("ReadNzb 1412 ms, 81 files", slot.GetProperty("stage_log")[0].GetProperty("actions")[0].GetString());
        Assert.Equal(2, slot.GetProperty("download_time").GetInt32());
        Assert.Equal("7.8 GB", slot.GetProperty("size").GetString());
        Assert.Equal(8412345678, slot.GetProperty("bytes").GetInt64());
    }

    [Fact]
    public async Task History_supports_paging_filters_and_change_polling()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        for (var i = 0; i < 15; i++)
            await host.Get<SluiceDatabase>().InsertAsync(HistoryStore.Insert, Item($"id{i}", $"Name {i}") with { Category = i % 2 == 0 ? "tv" : "movies", Reason = i == 3 ? "DeadPost" : null });

        Assert.Equal((10, 15), await CountAsync("mode=history"));
        Assert.Equal((5, 15), await CountAsync("mode=history&start=10&limit=60"));
        Assert.Equal((8, 8), await CountAsync("mode=history&category=tv"));
        Assert.Equal((8, 8), await CountAsync("mode=history&cat=TV"));
        Assert.Equal((0, 0), await CountAsync("mode=history&cat=None"));
        Assert.Equal((1, 1), await CountAsync("mode=history&failed_only=1"));
        Assert.Equal((0, 0), await CountAsync("mode=history&failed_only=1&status=Completed"));
        Assert.Equal((10, 14), await CountAsync("mode=history&status=Completed"));
        Assert.Equal((0, 0), await CountAsync("mode=history&status=Queued"));
        Assert.Equal((0, 0), await CountAsync("mode=history&archive=1"));
        Assert.Equal((2, 2), await CountAsync("mode=history&nzo_ids=id1&nzo_ids=id2"));
        Assert.Equal((6, 6), await CountAsync("mode=history&search=name+1"));
        Assert.Equal("""{"history":false}""", (await host.CallAsync("mode=history&last_history_update=15", Token)).ToString());
        Assert.Equal((10, 15), await CountAsync("mode=history&last_history_update=14"));

        host.Client.DefaultRequestHeaders.UserAgent.ParseAdd("Sonarr/4.0.9");
        Assert.Equal((15, 15), await CountAsync("mode=history&start=0&limit=5"));
        Assert.Equal((5, 15), await CountAsync("mode=history&start=5&limit=5"));

        async Task<(int Slots, int Matches)> CountAsync(string query)
        {
            var history = (await host.CallAsync(query, Token)).GetProperty("history");
            return (history.GetProperty("slots").GetArrayLength(), history.GetProperty("noofslots").GetInt32());
        }
    }

    [Fact]
    public async Task Queue_supports_paging_and_filters()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        for (var i = 0; i < 6; i++)
            await host.AddAsync(NzbText.Of("a.mkv"), $"Name {i}.nzb", Token, $"&cat={(i % 2 == 0 ? "tv" : "movies")}&priority={(i == 5 ? "1" : i == 4 ? "-2" : "0")}");

        Assert.Equal("Name 5,Name 0,Name 1,Name 2,Name 3,Name 4", await NamesAsync(""));
        Assert.Equal("Name 0,Name 1", await NamesAsync("&start=1&limit=2"));
        Assert.Equal("Name 0,Name 2,Name 4", await NamesAsync("&cat=tv"));
        Assert.Equal("Name 5", await NamesAsync("&priority=1"));
        Assert.Equal("Name 4", await NamesAsync("&status=Paused"));
        Assert.Equal("Name 3", await NamesAsync("&search=E+3"));
        var paused = (await host.CallAsync("mode=queue&status=Paused", Token)).GetProperty("queue");
        Assert.Equal((5, 1, 6), (paused.GetProperty("slots")[0].GetProperty("index").GetInt32(), paused.GetProperty("noofslots").GetInt32(), paused.GetProperty("noofslots_total").GetInt32()));

        var id = paused.GetProperty("slots")[0].GetProperty("nzo_id").GetString();
        await host.CallAsync($"mode=queue&name=resume&value={id}", Token);
        Assert.Equal("", await NamesAsync("&status=Paused"));
        await host.WaitForWaitingAsync(id!, Token);
        await host.CallAsync($"mode=queue&name=pause&value={id}", Token);
        Assert.Equal("Name 4", await NamesAsync("&status=Paused"));

        async Task<string> NamesAsync(string query) => string.Join(
            ',',
            (await host.CallAsync("mode=queue" + query, Token)).GetProperty("queue").GetProperty("slots").EnumerateArray()
                .Select(slot => slot.GetProperty("filename").GetString()));
    }

    /// <summary>Runs calls under a culture.</summary>
    internal static Action<IServiceCollection> Under(string culture) =>
        services => services.AddSingleton<IStartupFilter>(new CultureFilter(CultureInfo.GetCultureInfo(culture)));

    private static HistoryItem Item(string id, string name) => new()
    {
        Id = id,
        Name = name,
        NzbName = name + ".nzb",
        Category = "movies",
        Folder = "movies",
        ReleaseFolder = name,
        EncodedBytes = 8519680000,
        Bytes = 8412345678,
        AddedAt = Time,
        StartedAt = Time.AddSeconds(5),
        CompletedAt = Time.AddSeconds(7.9),
        Steps = [new StepTiming("ReadNzb", 1412, "81 files")],
    };

    private static void AssertSameShape(JsonElement expected, JsonElement actual, string path)
    {
        Assert.True(KindOf(expected) == KindOf(actual), $"{path} is {actual.ValueKind}");
        if (expected.ValueKind == JsonValueKind.Object)
        {
            Assert.Equal(expected.EnumerateObject().Select(field => field.Name), actual.EnumerateObject().Select(field => field.Name));
            foreach (var field in expected.EnumerateObject())
                AssertSameShape(field.Value, actual.GetProperty(field.Name), $"{path}.{field.Name}");
        }
        else if (expected.ValueKind == JsonValueKind.Array && expected.GetArrayLength() > 0)
        {
            Assert.All(actual.EnumerateArray(), item => AssertSameShape(expected[0], item, path + "[]"));
        }
        else if (expected.ValueKind == JsonValueKind.Number)
        {
            Assert.True(actual.TryGetInt64(out _), $"{path} is no whole number");
        }
    }

    private static JsonValueKind KindOf(JsonElement element) => element.ValueKind == JsonValueKind.True ? JsonValueKind.False : element.ValueKind;

    private sealed class CultureFilter(CultureInfo culture) : IStartupFilter
    {
        public Action<IApplicationBuilder> Configure(Action<IApplicationBuilder> next) => app =>
        {
            app.Use((context, rest) =>
            {
                CultureInfo.CurrentCulture = culture;
                return rest(context);
            });
            next(app);
        };
    }
}
