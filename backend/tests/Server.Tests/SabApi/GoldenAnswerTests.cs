using System.Text.RegularExpressions;
using Microsoft.Extensions.Logging;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

/// <summary>Calls for the history and the server, byte by byte in JSON and XML, under cultures with a decimal comma (SAB-90).</summary>
public sealed partial class GoldenAnswerTests : IDisposable
{
    private const string Head = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n";
    private const string Done = """{"status":true}""";
    private const string DoneXml = "<result><status>True</status></result>";

    private static readonly DateTimeOffset Time = DateTimeOffset.FromUnixTimeSeconds(1767434460);

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData("de-DE")]
    [InlineData("ar-SA")]
    public async Task Responses_match_the_contract_in_any_culture(string culture)
    {
        await using var host = await ProductHost.StartAsync(
            _folder,
            null,
            SabShapeTests.Under(culture),
            ("LOG_LEVEL", "warning"),
            ("SLUICE_CONFIG__API__CATEGORIES", "tv,movies"),
            ("SLUICE_CONFIG__USENET__PROVIDERS", """{"Providers":[{"Nickname":"main server","Host":"news.example.com","User":"name","Pass":"word","Type":0,"Priority":3},{"Host":"other.example.com","Type":0,"UseSsl":false}]}"""));

        await CheckServerAsync(host);
        await CheckConfigAsync(host);
        await CheckStatusAsync(host);
        await CheckHistoryAsync(host);
        await CheckRetriesAsync(host);
    }

    private async Task CheckServerAsync(ProductHost host)
    {
        await CheckAsync(host, "mode=version", """{"version":"5.0.4"}""", "<version>5.0.4</version>");
        await CheckAsync(host, "mode=auth", """{"auth":"apikey"}""", "<auth>apikey</auth>");
        await CheckAsync(
            host,
            "mode=get_cats",
            """{"categories":["*","tv","movies"]}""",
            "<categories><category>*</category><category>tv</category><category>movies</category></categories>");
        await CheckAsync(host, "mode=get_scripts", """{"scripts":["None"]}""", "<scripts><script>None</script></scripts>");
        await CheckAsync(host, "mode=translate&value=ping", """{"value":"ping"}""", "<value>ping</value>");
        await CheckAsync(
            host,
            "mode=server_stats",
            """
            {"total":0,"month":0,"week":0,"day":0,"servers":{"main server":{"total":0,"month":0,"week":0,"day":0,"daily":{},"articles_tried":{},"articles_success":{}},"Provider 2":{"total":0,"month":0,"week":0,"day":0,"daily":{},"articles_tried":{},"articles_success":{}}}}
            """,
            """
            <result><total>0</total><month>0</month><week>0</week><day>0</day><servers><item name="main server"><total>0</total><month>0</month><week>0</week><day>0</day><daily></daily><articles_tried></articles_tried><articles_success></articles_success></item><item name="Provider 2"><total>0</total><month>0</month><week>0</week><day>0</day><daily></daily><articles_tried></articles_tried><articles_success></articles_success></item></servers></result>
            """);
        foreach (var mode in new[] { "disconnect", "rss_now", "reset_quota", "pause_pp", "resume_pp", "warnings&name=clear", "watched_now", "pause", "resume", "config&name=set_pause&value=0", "config&name=speedlimit&value=4M", "speedlimit&value=0", "config&name=speedlimit" })
            await CheckAsync(host, $"mode={mode}", Done, DoneXml);
        foreach (var mode in new[] { "set_config", "set_config_default", "del_config" })
            await CheckErrorAsync(host, $"mode={mode}", "Configuration locked");
        foreach (var mode in new[] { "browse", "eval_sort", "showlog", "shutdown", "restart", "restart_repair", "gc_stats", "test_email", "qstatus", "" })
            await CheckErrorAsync(host, $"mode={mode}", "not implemented");

        await CheckAsync(host, "mode=warnings", """{"warnings":[]}""", "<warnings></warnings>");
        host.Get<ILoggerFactory>().CreateLogger("Sluice.Server.Tests.Origin")
            .Log(LogLevel.Error, default, $"1,5 <{ProductHost.Key}>", new InvalidOperationException("why\nso"), (text, _) => text);
        await CheckAsync(
            host,
            "mode=warnings&name=show",
            """{"warnings":[{"type":"ERROR","text":"1,5 <********>: InvalidOperationException","time":0,"origin":"Origin"}]}""",
            "<warnings><warning><type>ERROR</type><text>1,5 &lt;********&gt;: InvalidOperationException</text><time>0</time><origin>Origin</origin></warning></warnings>");
        await CheckAsync(host, "mode=warnings&name=clear", Done, DoneXml);
    }

    private async Task CheckConfigAsync(ProductHost host)
    {
        await CheckAsync(
            host,
            "mode=get_config",
            """
            {"config":{"misc":{"complete_dir":"/mnt/sluice/completed-symlinks","download_dir":"/config","tv_categories":[],"enable_tv_sorting":0,"movie_categories":[],"enable_movie_sorting":0,"date_categories":[],"enable_date_sorting":0,"pre_check":0,"history_retention":"","history_retention_option":"all","history_retention_number":1,"bandwidth_max":"","bandwidth_perc":100,"api_key":"********"},"categories":[{"name":"*","order":0,"pp":"3","script":"None","dir":"uncategorized","newzbin":"","priority":0},{"name":"tv","order":1,"pp":"","script":"Default","dir":"tv","newzbin":"","priority":-100},{"name":"movies","order":2,"pp":"","script":"Default","dir":"movies","newzbin":"","priority":-100}],"servers":[{"name":"main server","displayname":"main server","host":"redacted","port":563,"username":"redacted","password":"********","connections":20,"ssl":1,"enable":0,"optional":0,"priority":3},{"name":"Provider 2","displayname":"Provider 2","host":"redacted","port":119,"username":"redacted","password":"********","connections":20,"ssl":0,"enable":0,"optional":0,"priority":0}],"sorters":[]}}
            """,
            """
            <config><misc><complete_dir>/mnt/sluice/completed-symlinks</complete_dir><download_dir>/config</download_dir><tv_categories></tv_categories><enable_tv_sorting>0</enable_tv_sorting><movie_categories></movie_categories><enable_movie_sorting>0</enable_movie_sorting><date_categories></date_categories><enable_date_sorting>0</enable_date_sorting><pre_check>0</pre_check><history_retention></history_retention><history_retention_option>all</history_retention_option><history_retention_number>1</history_retention_number><bandwidth_max></bandwidth_max><bandwidth_perc>100</bandwidth_perc><api_key>********</api_key></misc><categories><category><name>*</name><order>0</order><pp>3</pp><script>None</script><dir>uncategorized</dir><newzbin></newzbin><priority>0</priority></category><category><name>tv</name><order>1</order><pp></pp><script>Default</script><dir>tv</dir><newzbin></newzbin><priority>-100</priority></category><category><name>movies</name><order>2</order><pp></pp><script>Default</script><dir>movies</dir><newzbin></newzbin><priority>-100</priority></category></categories><servers><server><name>main server</name><displayname>main server</displayname><host>redacted</host><port>563</port><username>redacted</username><password>********</password><connections>20</connections><ssl>1</ssl><enable>0</enable><optional>0</optional><priority>3</priority></server><server><name>Provider 2</name><displayname>Provider 2</displayname><host>redacted</host><port>119</port><username>redacted</username><password>********</password><connections>20</connections><ssl>0</ssl><enable>0</enable><optional>0</optional><priority>0</priority></server></servers><sorters></sorters></config>
            """);
        await CheckAsync(
            host,
            "mode=get_config&section=misc&keyword=pre_check",
            """{"config":{"misc":{"pre_check":0}}}""",
            "<config><misc><pre_check>0</pre_check></misc></config>");
        await CheckAsync(
            host,
            "mode=get_config&section=categories&keyword=tv",
            """{"config":{"categories":[{"name":"tv","order":1,"pp":"","script":"Default","dir":"tv","newzbin":"","priority":-100}]}}""",
            "<config><categories><category><name>tv</name><order>1</order><pp></pp><script>Default</script><dir>tv</dir><newzbin></newzbin><priority>-100</priority></category></categories></config>");
        foreach (var query in new[] { "section=nothing", "section=misc&keyword=nothing", "section=categories&keyword=TV", "section=servers&keyword=nothing", "section=sorters&keyword=x" })
            await CheckAsync(host, $"mode=get_config&{query}", """{"config":{}}""", "<config></config>");
    }

    private async Task CheckStatusAsync(ProductHost host)
    {
        foreach (var mode in new[] { "status", "fullstatus" })
        {
            await CheckAsync(
                host,
                $"mode={mode}&skip_dashboard=1",
                """
                {"status":{"version":"5.0.4","paused":false,"pause_int":"0","paused_all":false,"diskspace1":"~","diskspace2":"~","diskspacetotal1":"~","diskspacetotal2":"~","diskspace1_norm":"~","diskspace2_norm":"~","speedlimit":"100","speedlimit_abs":"0","have_warnings":"0","finishaction":null,"quota":"0 B","have_quota":false,"left_quota":"0 B","cache_art":"0","cache_size":"0 B","kbpersec":"0.00","speed":"0 B","mb":"0.00","mbleft":"0.00","size":"0 B","sizeleft":"0 B","status":"Idle","timeleft":"0:00:00","completedir":"/mnt/sluice/completed-symlinks","downloaddir":"/config","logfile":"","loglevel":"1","uptime":"~","folders":[],"warnings":[],"loadavg":"~","servers":[{"servername":"main server","serveractive":false,"serveractiveconn":0,"servertotalconn":20,"serverconnections":[],"serverssl":1,"serversslinfo":"","serverwarning":"","servererror":"","serverpriority":3,"serveroptional":0,"serverbps":"0 B","serveripaddress":"","servercanonname":""},{"servername":"Provider 2","serveractive":false,"serveractiveconn":0,"servertotalconn":20,"serverconnections":[],"serverssl":0,"serversslinfo":"","serverwarning":"","servererror":"","serverpriority":0,"serveroptional":0,"serverbps":"0 B","serveripaddress":"","servercanonname":""}],"pid":"~","pystone":0,"downloaddirspeed":0,"completedirspeed":0,"internetbandwidth":0,"configfn":"","webdir":"","active_lang":"en","power_options":false,"pp_pause_event":false,"color_scheme":""}}
                """,
                """
                <status><version>5.0.4</version><paused>False</paused><pause_int>0</pause_int><paused_all>False</paused_all><diskspace1>~</diskspace1><diskspace2>~</diskspace2><diskspacetotal1>~</diskspacetotal1><diskspacetotal2>~</diskspacetotal2><diskspace1_norm>~</diskspace1_norm><diskspace2_norm>~</diskspace2_norm><speedlimit>100</speedlimit><speedlimit_abs>0</speedlimit_abs><have_warnings>0</have_warnings><finishaction></finishaction><quota>0 B</quota><have_quota>False</have_quota><left_quota>0 B</left_quota><cache_art>0</cache_art><cache_size>0 B</cache_size><kbpersec>0.00</kbpersec><speed>0 B</speed><mb>0.00</mb><mbleft>0.00</mbleft><size>0 B</size><sizeleft>0 B</sizeleft><status>Idle</status><timeleft>0:00:00</timeleft><completedir>/mnt/sluice/completed-symlinks</completedir><downloaddir>/config</downloaddir><logfile></logfile><loglevel>1</loglevel><uptime>~</uptime><folders></folders><warnings></warnings><loadavg>~</loadavg><servers><server><servername>main server</servername><serveractive>False</serveractive><serveractiveconn>0</serveractiveconn><servertotalconn>20</servertotalconn><serverconnections></serverconnections><serverssl>1</serverssl><serversslinfo></serversslinfo><serverwarning></serverwarning><servererror></servererror><serverpriority>3</serverpriority><serveroptional>0</serveroptional><serverbps>0 B</serverbps><serveripaddress></serveripaddress><servercanonname></servercanonname></server><server><servername>Provider 2</servername><serveractive>False</serveractive><serveractiveconn>0</serveractiveconn><servertotalconn>20</servertotalconn><serverconnections></serverconnections><serverssl>0</serverssl><serversslinfo></serversslinfo><serverwarning></serverwarning><servererror></servererror><serverpriority>0</serverpriority><serveroptional>0</serveroptional><serverbps>0 B</serverbps><serveripaddress></serveripaddress><servercanonname></servercanonname></server></servers><pid>~</pid><pystone>0</pystone><downloaddirspeed>0</downloaddirspeed><completedirspeed>0</completedirspeed><internetbandwidth>0</internetbandwidth><configfn></configfn><webdir></webdir><active_lang>en</active_lang><power_options>False</power_options><pp_pause_event>False</pp_pause_event><color_scheme></color_scheme></status>
                """);
            foreach (var name in new[] { "unblock_server&value=main+server", "unblock_server", "delete_all_orphan", "add_all_orphan" })
                await CheckAsync(host, $"mode={mode}&name={name}", Done, DoneXml);
            foreach (var name in new[] { "delete_orphan&value=x", "add_orphan&value=x" })
                await CheckErrorAsync(host, $"mode={mode}&name={name}", "item does not exist");
        }
    }

    private async Task CheckHistoryAsync(ProductHost host)
    {
        var database = host.Get<SluiceDatabase>();
        await database.InsertAsync(HistoryStore.Insert, Item("SABnzbd_nzo_a", "Some.Release & More"));
        await CheckAsync(
            host,
            "mode=history",
            """
            {"history":{"total_size":"0 B","month_size":"0 B","week_size":"0 B","day_size":"0 B","ppslots":0,"noofslots":1,"last_history_update":1,"version":"5.0.4","slots":[{"completed":1767434467,"name":"Some.Release & More","nzb_name":"Some.Release & More.nzb","category":"movies","pp":"D","script":"None","report":"","url":"","status":"Completed","nzo_id":"SABnzbd_nzo_a","storage":"/mnt/sluice/completed-symlinks/movies/Some.Release & More","path":"/mnt/sluice/completed-symlinks/movies/Some.Release & More","script_line":"","download_time":2,"postproc_time":0,"stage_log":[{"name":"Source","actions":["ReadNzb 1412 ms, 81 files"]}],"downloaded":8519680000,"completeness":null,"fail_message":"","url_info":"","bytes":8412345678,"size":"7.8 GB","meta":null,"series":"","duplicate_key":"","md5sum":"","password":"","action_line":"","loaded":false,"retry":false,"archive":false,"time_added":1767434460}]}}
            """,
            """
            <history><total_size>0 B</total_size><month_size>0 B</month_size><week_size>0 B</week_size><day_size>0 B</day_size><ppslots>0</ppslots><noofslots>1</noofslots><last_history_update>1</last_history_update><version>5.0.4</version><slots><slot><completed>1767434467</completed><name>Some.Release &amp; More</name><nzb_name>Some.Release &amp; More.nzb</nzb_name><category>movies</category><pp>D</pp><script>None</script><report></report><url></url><status>Completed</status><nzo_id>SABnzbd_nzo_a</nzo_id><storage>/mnt/sluice/completed-symlinks/movies/Some.Release &amp; More</storage><path>/mnt/sluice/completed-symlinks/movies/Some.Release &amp; More</path><script_line></script_line><download_time>2</download_time><postproc_time>0</postproc_time><stage_log><slot><name>Source</name><actions><item>ReadNzb 1412 ms, 81 files</item></actions></slot></stage_log><downloaded>8519680000</downloaded><completeness></completeness><fail_message></fail_message><url_info></url_info><bytes>8412345678</bytes><size>7.8 GB</size><meta></meta><series></series><duplicate_key></duplicate_key><md5sum></md5sum><password></password><action_line></action_line><loaded>False</loaded><retry>False</retry><archive>False</archive><time_added>1767434460</time_added></slot></slots></history>
            """);
        await CheckAsync(host, "mode=history&last_history_update=1", """{"history":false}""", "<history>False</history>");
        await CheckErrorAsync(host, "mode=history&name=delete", "expects one parameter");
        await CheckErrorAsync(host, "mode=history&name=mark_as_completed", "expects one parameter");
        await CheckErrorAsync(host, "mode=history&name=mark_as_completed&value=SABnzbd_nzo_a", "item does not exist");
        await CheckAsync(host, "mode=history&name=delete&value=SABnzbd_nzo_a,unknown&del_files=1", Done, DoneXml);
        await CheckAsync(host, "mode=history&name=delete&value=all&archive=0", Done, DoneXml);
        await CheckAsync(
            host,
            "mode=history&archive=1",
            """{"history":{"total_size":"0 B","month_size":"0 B","week_size":"0 B","day_size":"0 B","ppslots":0,"noofslots":0,"last_history_update":3,"version":"5.0.4","slots":[]}}""",
            "<history><total_size>0 B</total_size><month_size>0 B</month_size><week_size>0 B</week_size><day_size>0 B</day_size><ppslots>0</ppslots><noofslots>0</noofslots><last_history_update>3</last_history_update><version>5.0.4</version><slots></slots></history>");
    }

    private async Task CheckRetriesAsync(ProductHost host)
    {
        using (var added = await host.PostFileAsync(NzbText.Of(), "Xml.nzb", "&output=xml", Token))
        {
            var text = await added.Content.ReadAsStringAsync(Token);
            Assert.Matches($"^{Regex.Escape(Head)}<result><status>True</status><nzo_ids><item>SABnzbd_nzo_[0-9a-f]{{32}}</item></nzo_ids></result>$", text);
            await host.WaitForHistoryAsync(text[text.IndexOf("SABnzbd_nzo_", StringComparison.Ordinal)..text.IndexOf("</item>", StringComparison.Ordinal)], Token);
        }

        foreach (var mode in new[] { "addfile", "addlocalfile", "addurl" })
            await CheckErrorAsync(host, $"mode={mode}", "expects one parameter");
        await CheckErrorAsync(host, "mode=addlocalfile&name=/etc/hosts", "file does not exist");
        await CheckErrorAsync(host, "mode=addurl&name=ftp://news.example.com/a.nzb", "URL refused: only http and https are fetched");
        await CheckAsync(host, "mode=history&name=delete&value=failed&archive=0", Done, DoneXml);
        await CheckErrorAsync(host, "mode=retry&value=unknown", "item does not exist");
        await CheckErrorAsync(host, "mode=retry", "item does not exist");
        await CheckAsync(host, "mode=retry_all", """{"status":[]}""", "<status></status>");

        var id = Assert.Single(await host.AddAsync(NzbText.Of(), "Empty.nzb", Token));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}"}""", await CallAsync(host, $"mode=retry&value={id}"));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal($$"""{"status":true,"nzo_id":"{{id}}","nzo_ids":["{{id}}"]}""", await CallAsync(host, $"mode=retry&value={id},unknown"));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal(
            $"{Head}<result><status>True</status><nzo_id>{id}</nzo_id></result>", await CallAsync(host, $"mode=retry&value={id}&output=xml"));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal($$"""{"status":["{{id}}"]}""", await CallAsync(host, "mode=retry_all"));
        await host.WaitForHistoryAsync(id, Token);
        Assert.Equal($"{Head}<status><item>{id}</item></status>", await CallAsync(host, "mode=retry_all&output=xml"));
        await host.WaitForHistoryAsync(id, Token);
    }

    private Task CheckErrorAsync(ProductHost host, string query, string error) => CheckAsync(
        host,
        query,
        $$"""{"status":false,"error":"{{error}}"}""",
        $"<result><status>False</status><error>{error}</error></result>");

    /// <summary>Makes a call in JSON and in XML. An upper-case <c>XML</c> is not recognized and returns JSON.</summary>
    private async Task CheckAsync(ProductHost host, string query, string json, string xml)
    {
        Assert.Equal(json.Trim(), await CallAsync(host, query + "&output=XML"));
        Assert.Equal(Head + xml.Trim(), await CallAsync(host, query + "&output=xml"));
    }

    private async Task<string> CallAsync(ProductHost host, string query)
    {
        using var answer = await host.Client.GetAsync(new Uri($"/api?apikey={ProductHost.Key}&{query}", UriKind.Relative), Token);
        var isXml = query.EndsWith("&output=xml", StringComparison.Ordinal);
        Assert.Equal(isXml ? "text/xml;charset=utf-8" : "application/json;charset=UTF-8", answer.Content.Headers.NonValidated["Content-Type"].ToString());
        Assert.Equal("no-store", answer.Headers.NonValidated["Cache-Control"].ToString());
        Assert.True(answer.IsSuccessStatusCode);
        var text = (await answer.Content.ReadAsStringAsync(Token)).Replace(_folder.Root, "/config", StringComparison.Ordinal);
        text = WarningTime().Replace(text, "${before}0");
        return isXml ? VolatileElement().Replace(text, "<${key}>~<") : VolatileField().Replace(text, "\"${key}\":\"~\"");
    }

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

    // Fields that depend on the machine or the time.
    [GeneratedRegex("\"(?<key>diskspace\\w*|uptime|loadavg|pid)\":(\"[^\"]*\"|[0-9]+)")]
    private static partial Regex VolatileField();

    [GeneratedRegex("<(?<key>diskspace\\w*|uptime|loadavg|pid)>[^<]*<")]
    private static partial Regex VolatileElement();

    [GeneratedRegex("(?<before>\"time\":|<time>)[0-9]+")]
    private static partial Regex WarningTime();
}
