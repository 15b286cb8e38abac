using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

/// <summary>The schema against a copy of the tables of the contract (CFG-16).</summary>
public sealed class SettingSchemaTests
{
    // key | type | range | default
    private const string Contract = """
        general.base-url | Url | | http://localhost:3000
        general.url-base | UrlPath | |
        general.log-level | Choice | trace,debug,information,warning,error | information
        general.log-format | Choice | text,json | text
        general.trusted-proxies | NetworkList | | ["127.0.0.0/8","::1/128"]
        general.allowed-hosts | HostList | -256 | []
        auth.session-days | Number | 1-365 | 30
        auth.secure-cookies | Choice | auto,always,never | auto
        database.history-retention-days | Number | 0-3650 | 90
        api.key | Key | 16-128 |
        api.nzb-key | Key | 0,16-128 |
        api.strm-key | Key | 16-128 |
        api.categories | NameList | -64 | ["audio","software","tv","movies","music","prowlarr","readarr"]
        api.manual-category | Name | | uncategorized
        api.import-strategy | Choice | symlinks,strm | symlinks
        api.completed-downloads-dir | Path | | /data/completed-downloads
        api.also-create-strm | Boolean | | false
        api.strm-library-dir | Path | | /data/strm-library
        api.ensure-importable-video | Boolean | | true
        api.importable-exempt-categories | NameList | -64 | ["software","books","ebooks","comics","readarr"]
        api.ensure-article-existence-categories | LineList | -64 | []
        api.article-existence-check-mode | Choice | full,sampled | full
        api.skip-non-video-on-missing-articles | Boolean | | true
        api.ignore-history-limit | Boolean | | true
        api.history-max-page-size | Number | 60-100000 | 10000
        api.duplicate-nzb-behavior | Choice | increment,mark-failed | increment
        api.download-file-blocklist | LineList | -256 | ["*.nfo","*.par2","*.sfv","*unpack.mkv","*.unpack.mp4"]
        api.sample-filter-enabled | Boolean | | true
        api.lazy-rar-parsing | Boolean | | true
        api.archive-passwords | LineList | -100 | []
        api.user-agent | Line | 1-256 | SABnzbd/5.0.4
        api.addurl-trusted-hosts | HostList | -256 | []
        api.local-nzb-dirs | PathList | -64 | []
        queue.watch-dir | Path | |
        queue.worker-count | Number | 1-10 | 2
        queue.max-items | Number | 0-1000000 | 0
        queue.resume-threshold | Number | 0-1000000 | 0
        queue.paused | Boolean | | false
        queue.step-timeout-seconds | Number | 30-1800 | 180
        queue.speed-limit-kbps | Number | 0-12500000 | 0
        queue.speed-limit-percent | Number | 1-100 | 100
        usenet.providers | Json | | {"Providers":[]}
        usenet.max-download-connections | Number | 0-1000 | 0
        usenet.max-queue-connections | Number | 0-1000 | 0
        usenet.streaming-priority | Number | 0-100 | 80
        usenet.max-streams | Number | 0,1-2000 | 0
        usenet.in-flight-article-budget-mb | Number | 0,64-65536 | 0
        usenet.read-ahead-mb | Number | 4-512 | 128
        usenet.streaming-read-timeout-seconds | Number | 5-120 | 15
        usenet.streaming-write-timeout-seconds | Number | 0,1-86400 | 0
        usenet.streaming-stall-seconds | Number | 2-40 | 6
        usenet.background-stall-seconds | Number | 5-120 | 20
        usenet.streaming-segment-retries | Number | 0-5 | 1
        usenet.connect-timeout-seconds | Number | 1-30 | 4
        usenet.login-timeout-seconds | Number | 2-60 | 8
        usenet.idle-connection-timeout-seconds | Number | 15-300 | 45
        usenet.warm-connections.enabled | Boolean | | true
        usenet.warm-connections.floor | Number | 0-64 | 0
        usenet.hedge.enabled | Boolean | | true
        usenet.hedge.floor-ms | Number | 50-10000 | 50
        usenet.queue-pipelining.enabled | Boolean | | true
        usenet.queue-pipelining.depth | Number | 1-64 | 8
        usenet.streaming-body-batch-width | Number | 0-8 | 0
        usenet.cascade.enabled | Boolean | | false
        usenet.article-miss-cache-ttl-seconds | Number | 30-86400 | 3600
        usenet.article-miss-cache-max-entries | Number | 100-5000000 | 100000
        usenet.segment-cache.enabled | Boolean | | true
        usenet.segment-cache.mode | Choice | edges,all | edges
        usenet.segment-cache.path | Path | |
        usenet.segment-cache.max-gb | Number | 1-10000 | 2
        usenet.shared-streams.enabled | Boolean | | true
        usenet.bandwidth-limit-mbps | Number | 0-100000 | 0
        usenet.bandwidth-schedule | Schedule | |
        usenet.crc-check | Boolean | | true
        streaming.verify-before-serve | Boolean | | false
        webdav.user | Text | 1-64 | admin
        webdav.pass | Password | 8- |
        webdav.no-auth-networks | NetworkList | | []
        webdav.static-download-key | Key | 0,16-128 |
        webdav.preview-par2-files | Boolean | | false
        webdav.windows-safe-paths | Boolean | | true
        rclone.mount-dir | Path | | /mnt/sluice
        rclone.rc-enabled | Boolean | | false
        rclone.host | Url | |
        rclone.user | Text | 0-128 |
        rclone.pass | Line | -1024 |
        arr.instances | Json | | {}
        backup.schedule-enabled | Boolean | | true
        backup.schedule-time | Number | 0-1439 | 180
        backup.retention-count | Number | 1-100 | 5
        backup.retention-weeks | Number | 0-52 | 4
        backup.passphrase | Line | 0,12-1024 |
        backup.second-dir | Path | |
        metrics.require-api-key | Boolean | | true
        updates.feed-url | Url | |
        receipts.retention-days | Number | 0-3650 | 400
        ui.pictures-max-mb | Number | 0-10000 | 100
        ui.arr-posters | Boolean | | true
        """;

    [Fact]
    public void Schema_matches_the_contract_table() =>
        Assert.Equal(
            Contract.Split('\n').Select(line => string.Join('|', line.Split('|').Select(cell => cell.Trim()))),
            SettingSchema.All.Select(definition => $"{definition.Key}|{definition.Type}|{Range(definition)}|{definition.Default}"));

    [Fact]
    public void Secret_settings_are_marked() =>
        Assert.Equal(
            ["api.archive-passwords", "api.key", "api.nzb-key", "api.strm-key", "arr.instances", "backup.passphrase", "rclone.pass", "usenet.providers", "webdav.pass", "webdav.static-download-key"],
            SettingSchema.All.Where(definition => definition.Secret).Select(definition => definition.Key).Order());

    [Fact]
    public void Every_setting_is_explained_in_at_most_two_sentences()
    {
        string[] words = ["article", "yEnc", "NNTP", "segment", "CRC", "PAR2", "pipelin", "socket"];
        var cards = SettingSchema.All.ToDictionary(definition => definition.Key, definition => definition.Card);
        Assert.All(cards, card =>
        {
            Assert.NotEmpty(card.Value.Title);
            Assert.InRange(card.Value.Help.Split(". ").Length, 1, 2);
            Assert.EndsWith(".", card.Value.Help, StringComparison.Ordinal);
        });
        var basic = cards.Where(card => card.Value.Basic).ToList();
        Assert.InRange(basic.Count, 1, 12);
        Assert.All(basic, card => Assert.DoesNotContain(words, word => (card.Value.Title + card.Value.Help).Contains(word, StringComparison.OrdinalIgnoreCase)));
        Assert.All(
            SettingSchema.All.Where(definition => definition.Type == SettingType.Number && (definition.ZeroAllowed || definition is { Min: 0, Key: not "usenet.streaming-priority" and not "usenet.streaming-segment-retries" })),
            definition => Assert.NotNull(definition.Card.ZeroMeans));
    }

    [Fact]
    public void Every_default_is_valid_and_canonical()
    {
        foreach (var definition in SettingSchema.All.Where(definition => !definition.Generated))
            Assert.Equal(definition.Default, SettingReader.Read(definition, definition.Default, out _));
    }

    [Fact]
    public void Setting_names_are_unique()
    {
        // A JSON object of the family sets several keys, each by its own member.
        var members = SettingSchema.All.SelectMany(definition => definition.Aliases).Where(alias => alias.Member is not null).ToList();
        var names = SettingSchema.All
            .SelectMany(definition => definition.Aliases.Where(alias => alias.Member is null).Select(alias => alias.Name).Append(definition.Key))
            .Concat(members.Select(alias => alias.Name).Distinct())
            .ToList();
        var variables = SettingSchema.All.SelectMany(definition => definition.Fallbacks.Select(fallback => fallback.Name)).ToList();

        Assert.Equal(members.DistinctBy(alias => (alias.Name, alias.Member?.ToLowerInvariant())), members);
        Assert.Equal(names.Distinct(), names);
        Assert.Equal(variables.Distinct(), variables);
        Assert.Equal(names.Select(SettingsResolver.OverrideName).Distinct().Count(), names.Count);
    }

    private static string Range(SettingDefinition definition) => definition.Type switch
    {
        SettingType.Choice => string.Join(',', definition.Words),
        SettingType.Number when definition.ZeroAllowed => $"0,{definition.Min}-{definition.Max}",
        SettingType.Key or SettingType.Line when definition.EmptyAllowed => $"0,{definition.Min}-{definition.Max}",
        SettingType.Number or SettingType.Key or SettingType.Text => $"{definition.Min}-{definition.Max}",
        SettingType.Password => $"{definition.Min}-",
        SettingType.Line when definition.Min > 0 => $"{definition.Min}-{definition.Max}",
        SettingType.LineList or SettingType.NameList or SettingType.HostList or SettingType.PathList or SettingType.Line => $"-{definition.Max}",
        _ => "",
    };

    [Theory]
    [InlineData("31500", null, "http://localhost:31500")]
    [InlineData("3000", "8123", "http://localhost:8123")]
    [InlineData("0", null, "http://localhost:3000")]
    public void Default_address_has_the_port_in_use(string port, string? published, string expected)
    {
        var variables = new Dictionary<string, string> { ["PORT"] = port };
        if (published is not null)
            variables["PUBLISHED_PORT"] = published;
        var environment = new ProcessEnvironment(variables);

        var settings = new SettingsResolver(SettingSchema.For(ProcessOptions.Read(environment)), environment).Resolve(new Dictionary<string, string>());

        Assert.Equal(expected, settings.Text("general.base-url"));
    }
}
