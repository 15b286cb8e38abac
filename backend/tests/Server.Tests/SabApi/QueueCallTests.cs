using System.Globalization;
using System.Text.Json;
using System.Xml.Linq;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Every call that changes the queue, with its exact response (SAB-90). The queue is paused, so that nothing else changes it.</summary>
public sealed class QueueCallTests : IDisposable
{
    private const string Done = """{"status":true}""";
    private const string NotDone = """{"status":false}""";
    private const string NoItem = """{"status":false,"error":"item does not exist"}""";
    private const string OneParameter = """{"status":false,"error":"expects one parameter"}""";
    private const string TwoParameters = """{"status":false,"error":"expects two parameters"}""";
    private const string IntegerValue = """{"status":false,"error":"expects integer value"}""";

    // Placeholders for the items' ids in calls and responses.
    private const string Items = "ABCD";

    private readonly TemporaryFolder _folder = new();
    private readonly Dictionary<string, string> _ids = [];

    public static TheoryData<string> Cultures => ["de-DE", "ar-SA"];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [MemberData(nameof(Cultures))]
    public async Task Priority_switch_and_sort_calls_match_the_contract(string culture)
    {
        await using var host = await StartAsync(culture);

        await IsAsync(host, "mode=queue&name=priority", TwoParameters);
        await IsAsync(host, "mode=queue&name=priority&value={A}", TwoParameters);
        await IsAsync(host, "mode=queue&name=priority&value=,&value2=1", TwoParameters);
        await IsAsync(host, "mode=queue&name=priority&value={A}&value2=high", IntegerValue);
        await IsAsync(host, "mode=queue&name=priority&value={A}&value2=99999999999", IntegerValue);
        await IsAsync(host, "mode=queue&name=priority&value=unknown&value2=1", """{"position":-1}""");
        await IsAsync(host, "mode=queue&name=priority&value={D}&value2=1", """{"position":0}""", "DABC");
        await IsAsync(host, "mode=queue&name=priority&value={D}&value2=-2", """{"position":0}""", "DABC");
        await IsAsync(host, "mode=queue&name=priority&value={D}&value2=-4", """{"position":0}""", "DABC");
        // The items are paused, because a forced item starts even in a paused queue and then keeps the front.
        await IsAsync(host, "mode=queue&name=pause", """{"status":false,"nzo_ids":[]}""");
        await IsAsync(host, "mode=queue&name=resume&value=,", """{"status":false,"nzo_ids":[]}""");
        await IsAsync(host, "mode=queue&name=pause&value={B},{C}", """{"status":true,"nzo_ids":["{B}","{C}"]}""");
        await IsAsync(host, "mode=queue&name=priority&value={B},{C}&value2=2", """{"position":1}""", "BCDA");
        await IsAsync(host, "mode=queue&name=priority&value={C}&value2=-100", """{"position":3}""", "BDAC");
        await IsAsync(host, "mode=queue&name=priority&value={A}&value2=-1", """{"position":3}""", "BDCA");
        Assert.Equal("Force High Normal Low", await ListAsync(host, "priority"));
        Assert.Equal("Paused Queued Paused Queued", await ListAsync(host, "status"));

        await IsAsync(host, "mode=switch", TwoParameters);
        await IsAsync(host, "mode=switch&value={A}", TwoParameters);
        await IsAsync(host, "mode=switch&value={A}&value2={A}", """{"result":{"position":-1,"priority":0}}""");
        await IsAsync(host, "mode=switch&value={A}&value2=unknown", """{"result":{"position":-1,"priority":0}}""");
        await IsAsync(host, "mode=switch&value={A}&value2=4", """{"result":{"position":-1,"priority":0}}""");
        await IsAsync(host, "mode=switch&value={A}&value2=-1", """{"result":{"position":-1,"priority":0}}""");
        await IsAsync(host, "mode=switch&value=unknown&value2=0", """{"result":{"position":-1,"priority":0}}""");
        await IsAsync(host, "mode=switch&value={C}&value2={D}", """{"result":{"position":1,"priority":1}}""", "BCDA");
        await IsAsync(host, "mode=switch&value={B}&value2=3", """{"result":{"position":3,"priority":-1}}""", "CDAB");
        Assert.Equal("High High Low Low", await ListAsync(host, "priority"));

        await IsAsync(host, "mode=queue&name=sort", TwoParameters);
        await IsAsync(host, "mode=queue&name=sort&sort=colour", Done, "CDAB");
        await IsAsync(host, "mode=queue&name=sort&sort=name&dir=desc", Done, "DCBA");
        await IsAsync(host, "mode=queue&name=sort&sort=Name&dir=asc", Done, "CDAB");
        foreach (var key in new[] { "size", "avg_age", "remaining" })
            await IsAsync(host, $"mode=queue&name=sort&sort={key}&dir=desc", Done);
    }

    [Theory]
    [MemberData(nameof(Cultures))]
    public async Task Calls_for_item_properties_match_the_contract(string culture)
    {
        await using var host = await StartAsync(culture);

        await IsAsync(host, "mode=queue&name=rename&value={A}", TwoParameters);
        await IsAsync(host, "mode=queue&name=rename&value2=x", TwoParameters);
        await IsAsync(host, "mode=queue&name=rename&value=unknown&value2=x", NotDone);
        await IsAsync(host, "mode=queue&name=rename&value={A}&value2=New.Name.nzb", Done);
        Assert.Equal(("New.Name", ""), await NameAsync(host));
        await IsAsync(host, "mode=queue&name=rename&value={A}&value2=New%20Name%7B%7Bpw%7D%7D", Done);
        Assert.Equal(("New Name", "pw"), await NameAsync(host));
        await IsAsync(host, "mode=queue&name=rename&value={A}&value2=Newer%20Name", Done);
        Assert.Equal(("Newer Name", "pw"), await NameAsync(host));
        await IsAsync(host, "mode=queue&name=rename&value={A}&value2=Newest/other&value3=mine", Done);
        Assert.Equal(("Newest", "mine"), await NameAsync(host));
        // Items may share a name.
        await IsAsync(host, "mode=queue&name=rename&value={A}&value2=B%20password%3Dagain", Done);
        Assert.Equal(("B", "again"), await NameAsync(host));

        await IsAsync(host, "mode=change_cat&value2=tv", OneParameter);
        await IsAsync(host, "mode=change_cat&value={A}", OneParameter);
        await IsAsync(host, "mode=change_cat&value=unknown&value2=tv", NotDone);
        await IsAsync(host, "mode=change_cat&value={A},{B},unknown&value2=tv", Done);
        await IsAsync(host, "mode=change_cat&value={C}&cat=movies", Done);
        await IsAsync(host, "mode=change_cat&value={D}&category=Other", Done);
        Assert.Equal("tv tv movies *", await ListAsync(host, "cat"));
        await IsAsync(host, "mode=change_cat&value={D}&category=AUDIO", Done);
        await IsAsync(host, "mode=change_cat&value={B}&value2=None", Done);
        await IsAsync(host, "mode=change_cat&value={C}&value2=*", Done);
        Assert.Equal("tv * * audio", await ListAsync(host, "cat"));
        // The other item with this name is in another folder.
        Assert.Equal(("B", "again"), await NameAsync(host));

        await IsAsync(host, "mode=change_script&value={A}", OneParameter);
        await IsAsync(host, "mode=change_script&value2=x.py", OneParameter);
        await IsAsync(host, "mode=change_script&value=unknown&value2=x.py", NotDone);
        await IsAsync(host, "mode=change_script&value={A},{B}&value2=x.py", Done);
        await IsAsync(host, "mode=change_script&value={B}&value2=none", Done);
        Assert.Equal("x.py None None None", await ListAsync(host, "script"));

        await IsAsync(host, "mode=change_opts", NoItem);
        await IsAsync(host, "mode=change_opts&value={A}&value2=all", NoItem);
        await IsAsync(host, "mode=change_opts&value={A}&value2=4", NotDone);
        await IsAsync(host, "mode=change_opts&value=unknown&value2=1", NotDone);
        await IsAsync(host, "mode=change_opts&value={A},{B}&value2=1", Done);
        Assert.Equal("1 1 3 3", await ListAsync(host, "unpackopts"));

        await IsAsync(host, "mode=queue&name=change_complete_action&value=shutdown_pc", Done);
        await IsAsync(host, "mode=queue&name=delete_nzf&value={A}", TwoParameters);
        await IsAsync(host, "mode=queue&name=delete_nzf&value2=x", TwoParameters);
        await IsAsync(host, "mode=queue&name=delete_nzf&value={A}&value2=x", """{"status":false,"nzf_ids":[]}""");
        await IsAsync(host, "mode=move_nzf_bulk&name=up", OneParameter);
        await IsAsync(host, "mode=move_nzf_bulk&name=up&value={A}&nzf_ids=x", """{"status":false,"error":"not implemented"}""");

        async Task<(string?, string?)> NameAsync(ProductHost server)
        {
            var slot = (await SlotsAsync(server, "&nzo_ids={A}")).Single();
            return (slot.GetProperty("filename").GetString(), slot.GetProperty("password").GetString());
        }
    }

    [Theory]
    [MemberData(nameof(Cultures))]
    public async Task Pause_resume_and_delete_calls_match_the_contract(string culture)
    {
        await using var host = await StartAsync(culture);

        await IsAsync(host, "mode=queue&name=pause&value={A},unknown", """{"status":true,"nzo_ids":["{A}","unknown"]}""", "ABCD");
        Assert.Equal("Paused Queued Queued Queued", await ListAsync(host, "status"));
        await IsAsync(host, "mode=queue&name=resume&value={A}&value={B}", """{"status":true,"nzo_ids":["{A}","{B}"]}""", "ABCD");
        Assert.Equal("Queued Queued Queued Queued", await ListAsync(host, "status"));

        await IsAsync(host, "mode=queue&name=delete", OneParameter);
        await IsAsync(host, "mode=queue&name=delete&value=unknown", """{"status":false,"nzo_ids":[]}""", "ABCD");
        await IsAsync(host, "mode=queue&name=delete&value={B}&del_files=1", """{"status":true,"nzo_ids":["{B}"]}""", "ACD");
        await IsAsync(host, "mode=queue&name=delete&value=ALL&search=c", """{"status":true,"nzo_ids":["{C}"]}""", "AD");
        await IsAsync(host, "mode=queue&name=purge&search=nothing", """{"status":false,"nzo_ids":[]}""", "AD");
        await IsAsync(host, "mode=queue&name=purge", """{"status":true,"nzo_ids":["{A}","{D}"]}""", "");
        await IsAsync(host, "mode=queue&name=purge", """{"status":false,"nzo_ids":[]}""", "");
    }

    [Theory]
    [MemberData(nameof(Cultures))]
    public async Task Get_files_call_matches_the_contract(string culture)
    {
        await using var host = await StartAsync(culture);
        _ids["F"] = (await host.AddAsync(NzbText.Of("film.mkv", "film.srt"), "F.nzb", Token))[0];
        var age = (int)(TimeProvider.System.GetUtcNow() - DateTimeOffset.FromUnixTimeSeconds(1767434400)).TotalDays;
        var own = _ids["F"]["SABnzbd_nzo_".Length..];

        await IsAsync(host, "mode=get_files", OneParameter);
        await IsAsync(host, "mode=get_files&value=unknown", """{"files":[]}""");
        await IsAsync(
            host,
            "mode=get_files&value={F}",
            $$"""
            {"files":[{"filename":"film.mkv","mbleft":"0.00","mb":"0.00","bytes":"1000.00","age":"{{age}}d","nzf_id":"SABnzbd_nzf_{{own}}_0","status":"queued"},{"filename":"film.srt","mbleft":"0.00","mb":"0.00","bytes":"1000.00","age":"{{age}}d","nzf_id":"SABnzbd_nzf_{{own}}_1","status":"queued"}]}
            """);
    }

    [Theory]
    [MemberData(nameof(Cultures))]
    public async Task Timed_pause_calls_match_the_contract(string culture)
    {
        await using var host = await StartAsync(culture);

        await IsAsync(host, "mode=config&name=set_pause&value=soon", IntegerValue);
        await IsAsync(host, "mode=config&name=set_pause&value=90", Done);
        var queue = (await host.CallAsync("mode=queue", Token)).GetProperty("queue");
        Assert.Equal(("Paused", true), (queue.GetProperty("status").GetString(), queue.GetProperty("paused").GetBoolean()));
        Assert.Matches("^(90:00|8[0-9]:[0-5][0-9])$", queue.GetProperty("pause_int").GetString());
        await IsAsync(host, $"mode=config&name=set_pause&value={long.MaxValue}", Done);
        Assert.Matches("^4[23][0-9]{3}:[0-5][0-9]$", (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("pause_int").GetString());
        await IsAsync(host, "mode=pause", Done);
        Assert.Equal("0", (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("pause_int").GetString());

        await IsAsync(host, "mode=config&name=set_pause&value=0", Done);
        queue = (await host.CallAsync("mode=queue", Token)).GetProperty("queue");
        Assert.Equal((false, "0"), (queue.GetProperty("paused").GetBoolean(), queue.GetProperty("pause_int").GetString()));
        // There is no provider, so the first item waits for one as soon as the queue continues.
        await host.WaitForWaitingAsync(_ids["A"], Token);
        var slot = (await SlotsAsync(host, "&nzo_ids={A}")).Single();
        Assert.Equal(("Queued", "WAITING", "0:00:00"), (slot.GetProperty("status").GetString(), slot.GetProperty("labels")[0].GetString(), slot.GetProperty("timeleft").GetString()));

        await IsAsync(host, "mode=queue&name=pause&value={A}", """{"status":true,"nzo_ids":["{A}"]}""");
        slot = (await SlotsAsync(host, "&nzo_ids={A}")).Single();
        Assert.Equal(("Paused", 0), (slot.GetProperty("status").GetString(), slot.GetProperty("labels").GetArrayLength()));
        await IsAsync(host, "mode=pause", Done);
        await IsAsync(host, "mode=resume", Done);
        Assert.False((await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("paused").GetBoolean());
    }

    [Fact]
    public async Task Responses_are_available_as_XML()
    {
        await using var host = await StartAsync("de-DE");
        await host.CallAsync(Fill("mode=queue&name=delete&value={C},{D}"), Token);
        const string none = "<result><status>False</status><error>expects one parameter</error></result>";
        (string Call, string Expected)[] calls =
        [
            ("mode=queue&name=priority&value={B}&value2=1", "<position>0</position>"),
            ("mode=queue&name=priority&value={B}", "<result><status>False</status><error>expects two parameters</error></result>"),
            ("mode=switch&value={A}&value2=0", "<result><position>0</position><priority>1</priority></result>"),
            ("mode=queue&name=sort&sort=name", "<result><status>True</status></result>"),
            ("mode=queue&name=rename&value={A}&value2=x%26y", "<result><status>True</status></result>"),
            ("mode=queue&name=pause&value={A},{B}", "<result><status>True</status><nzo_ids><item>{A}</item><item>{B}</item></nzo_ids></result>"),
            ("mode=queue&name=resume", "<result><status>False</status><nzo_ids></nzo_ids></result>"),
            ("mode=queue&name=delete_nzf&value={A}&value2=x", "<result><status>False</status><nzf_ids></nzf_ids></result>"),
            ("mode=queue&name=change_complete_action", "<result><status>True</status></result>"),
            ("mode=change_cat&value={A}&value2=tv", "<status>True</status>"),
            ("mode=change_script&value={A}&value2=None", "<status>True</status>"),
            ("mode=change_opts&value={A}&value2=1", "<status>True</status>"),
            ("mode=change_cat&value={A}", none),
            ("mode=change_script&value={A}", none),
            ("mode=change_opts&value={A}", "<result><status>False</status><error>item does not exist</error></result>"),
            ("mode=get_files", none),
            ("mode=get_files&value=unknown", "<files></files>"),
            ("mode=move_nzf_bulk", none),
            ("mode=cancel_pp&value={A}", "<result><status>False</status><error>item does not exist</error></result>"),
            ("mode=config&name=set_pause&value=10", "<result><status>True</status></result>"),
            ("mode=config&name=set_apikey", "<result><status>False</status><error>Configuration locked</error></result>"),
            ("mode=pause", "<result><status>True</status></result>"),
            ("mode=queue&name=delete&value={B}", "<result><status>True</status><nzo_ids><item>{B}</item></nzo_ids></result>"),
        ];

        foreach (var (call, expected) in calls)
            await IsAsync(host, call + "&output=xml", "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n" + expected);
        var queue = XDocument.Parse(await host.Client.GetStringAsync(new Uri($"/api?apikey={ProductHost.Key}&mode=queue&output=xml", UriKind.Relative), Token)).Root!;
        Assert.Equal(("queue", "True", "Paused", "1"), (queue.Name.LocalName, queue.Element("paused")!.Value, queue.Element("status")!.Value, queue.Element("noofslots")!.Value));
        var slot = Assert.Single(queue.Element("slots")!.Elements("slot"));
        Assert.Equal((_ids["A"], "x&y", "tv", "0.00", ""), (slot.Element("nzo_id")!.Value, slot.Element("filename")!.Value, slot.Element("cat")!.Value, slot.Element("mb")!.Value, slot.Element("direct_unpack")!.Value));
        var files = XDocument.Parse(await host.Client.GetStringAsync(new Uri(Fill($"/api?apikey={ProductHost.Key}&mode=get_files&value={{A}}&output=xml"), UriKind.Relative), Token)).Root!;
        Assert.Equal(("files", "A.mkv"), (files.Name.LocalName, files.Element("file")!.Element("filename")!.Value));
    }

    [Fact]
    public async Task Queue_call_with_an_unknown_name_lists_the_queue()
    {
        await using var host = await StartAsync("de-DE");

        Assert.Equal(4, (await host.CallAsync("mode=queue&name=anything", Token)).GetProperty("queue").GetProperty("slots").GetArrayLength());
    }

    /// <summary>Starts a server with four items, named after their letters.</summary>
    private async Task<ProductHost> StartAsync(string culture)
    {
        var host = await ProductHost.StartAsync(_folder, null, SabShapeTests.Under(culture));
        await IsAsync(host, "mode=pause", Done);
        foreach (var letter in Items.Select(item => item.ToString(CultureInfo.InvariantCulture)))
            _ids[letter] = (await host.AddAsync(NzbText.Of(letter + ".mkv"), letter + ".nzb", Token))[0];
        return host;
    }

    private async Task IsAsync(ProductHost host, string call, string expected, string? order = null)
    {
        using var answer = await host.Client.GetAsync(new Uri($"/api?apikey={ProductHost.Key}&{Fill(call)}", UriKind.Relative), Token);
        Assert.Equal(Fill(expected).Trim(), await answer.Content.ReadAsStringAsync(Token));
        Assert.Equal(System.Net.HttpStatusCode.OK, answer.StatusCode);
        if (order is not null)
        {
            var letters = _ids.ToDictionary(pair => pair.Value, pair => pair.Key);
            Assert.Equal(order, string.Concat((await SlotsAsync(host, "")).Select(slot => letters[slot.GetProperty("nzo_id").GetString()!])));
        }
    }

    private async Task<List<JsonElement>> SlotsAsync(ProductHost host, string query) =>
        [.. (await host.CallAsync("mode=queue" + Fill(query), Token)).GetProperty("queue").GetProperty("slots").EnumerateArray()];

    private async Task<string> ListAsync(ProductHost host, string field) =>
        string.Join(' ', (await SlotsAsync(host, "")).Select(slot => slot.GetProperty(field).GetString()));

    private string Fill(string text) => _ids.Aggregate(text, (filled, id) => filled.Replace($"{{{id.Key}}}", id.Value, StringComparison.Ordinal));
}
