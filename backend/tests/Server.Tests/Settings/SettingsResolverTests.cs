using Sluice.Server.Settings;
using Xunit;

namespace Sluice.Server.Tests.Settings;

public sealed class SettingsResolverTests : IDisposable
{
    private const string Remote = """{"Url":"http://rclone:5572/","password":"p:1","ENABLED":true,"Username":null}""";

    private readonly string _file = Path.GetTempFileName();

    public void Dispose() => File.Delete(_file);

    [Theory]
    [InlineData("usenet.segment-cache.max-gb", "SLUICE_CONFIG__USENET__SEGMENT_CACHE__MAX_GB")]
    [InlineData("webdav.pass", "SLUICE_CONFIG__WEBDAV__PASS")]
    public void Environment_variable_is_named_after_its_setting(string key, string expected) => Assert.Equal(expected, SettingsResolver.OverrideName(key));

    [Fact]
    public void Higher_source_wins_and_each_value_names_its_source()
    {
        Dictionary<string, string> environment = [];
        Dictionary<string, string> saved = [];
        void Expect(string value, SettingOrigin origin, string? variable = null)
        {
            var found = Resolve(environment, saved)["usenet.background-stall-seconds"];
            Assert.Equal((value, origin, variable), (found.Value, found.Origin, found.Variable));
        }

        Expect("20", SettingOrigin.Default);
        environment["USENET_OPERATION_TIMEOUT"] = "30";
        Expect("30", SettingOrigin.Fallback, "USENET_OPERATION_TIMEOUT");
        saved["usenet.operation-timeout"] = "35";
        Expect("35", SettingOrigin.Saved);
        saved["usenet.background-stall-seconds"] = "40";
        Expect("40", SettingOrigin.Saved);
        environment["NZBDAV_CONFIG__USENET__OPERATION_TIMEOUT"] = "45";
        Expect("45", SettingOrigin.Environment, "NZBDAV_CONFIG__USENET__OPERATION_TIMEOUT");
        environment["NZBDAV_CONFIG__USENET__BACKGROUND_STALL_SECONDS"] = "50";
        Expect("50", SettingOrigin.Environment, "NZBDAV_CONFIG__USENET__BACKGROUND_STALL_SECONDS");
        environment["SLUICE_CONFIG__USENET__BACKGROUND_STALL_SECONDS"] = "55";
        Expect("55", SettingOrigin.Environment, "SLUICE_CONFIG__USENET__BACKGROUND_STALL_SECONDS");
        environment["SLUICE_CONFIG__USENET__BACKGROUND_STALL_SECONDS"] = "";
        Expect("50", SettingOrigin.Environment, "NZBDAV_CONFIG__USENET__BACKGROUND_STALL_SECONDS");
    }

    [Fact]
    public void Second_override_of_a_key_gives_one_warning() =>
        Assert.Equal(
            ["NZBDAV_CONFIG__WEBDAV__USER is ignored, because SLUICE_CONFIG__WEBDAV__USER sets webdav.user"],
            Resolve(new() { ["SLUICE_CONFIG__WEBDAV__USER"] = "a", ["NZBDAV_CONFIG__WEBDAV__USER"] = "b" }).Warnings);

    [Fact]
    public void Unknown_override_warns_once_unless_empty() =>
        Assert.Equal(
            ["SLUICE_CONFIG__REPAIR__ENABLE names no setting of this version and has no effect"],
            Resolve(new() { ["SLUICE_CONFIG__REPAIR__ENABLE"] = "true", ["SLUICE_CONFIG__REPAIR__ACTION"] = "" }).Warnings);

    [Theory]
    [InlineData("usenet.streaming-stall-seconds", "41", "40")]
    [InlineData("usenet.streaming-stall-seconds", "1", "2")]
    [InlineData("usenet.streaming-stall-seconds", "99999999999999999999999", "40")]
    [InlineData("usenet.streaming-stall-seconds", "-99999999999999999999999", "2")]
    [InlineData("usenet.streaming-stall-seconds", "six", "6")]
    [InlineData("usenet.streaming-stall-seconds", "6.5", "6")]
    [InlineData("usenet.in-flight-article-budget-mb", "63", "64")]
    [InlineData("usenet.in-flight-article-budget-mb", "-1", "0")]
    [InlineData("usenet.in-flight-article-budget-mb", "65537", "65536")]
    [InlineData("webdav.windows-safe-paths", "maybe", "true")]
    [InlineData("general.log-level", "loud", "information")]
    [InlineData("webdav.user", "a:b", "admin")]
    [InlineData("webdav.user", "a\nb", "admin")]
    [InlineData("api.manual-category", "..", "uncategorized")]
    [InlineData("api.manual-category", "a\uFFFEb", "uncategorized")]
    [InlineData("api.manual-category", "a\u202Eb", "uncategorized")]
    [InlineData("api.manual-category", "NUL", "uncategorized")]
    [InlineData("api.categories", "tv,a\uFFFEb", """["audio","software","tv","movies","music","prowlarr","readarr"]""")]
    [InlineData("api.categories", "tv,a/b", """["audio","software","tv","movies","music","prowlarr","readarr"]""")]
    [InlineData("api.categories", "tv,.probe", """["audio","software","tv","movies","music","prowlarr","readarr"]""")]
    [InlineData("api.categories", "tv,demo", """["audio","software","tv","movies","music","prowlarr","readarr"]""")]
    [InlineData("rclone.mount-dir", "mnt", "/mnt/sluice")]
    [InlineData("rclone.host", "localhost:5572", "")]
    [InlineData("rclone.host", "ftp://localhost", "")]
    [InlineData("rclone.host", "http://u:p@localhost", "")]
    [InlineData("rclone.host", "http://localhost/?a=b", "")]
    [InlineData("rclone.host", "/rc", "")]
    [InlineData("usenet.providers", "[1]", """{"Providers":[]}""")]
    [InlineData("usenet.providers", "{", """{"Providers":[]}""")]
    public void Unusable_value_is_replaced_with_one_warning(string key, string text, string expected)
    {
        var settings = Resolve([], new() { [key] = text });

        Assert.Equal(expected, settings.Text(key));
        var warning = Assert.Single(settings.Warnings);
        Assert.StartsWith(key + " from the saved value", warning, StringComparison.Ordinal);
        Assert.DoesNotContain('\n', warning);
    }

    [Theory]
    [InlineData("webdav.pass", "hunter2")]
    [InlineData("api.key", "canary secret!!!")]
    [InlineData("usenet.providers", "canary-of-a-provider")]
    [InlineData("rclone.pass", "canary\nsecret")]
    public void Warning_about_a_secret_does_not_show_it(string key, string text) =>
        Assert.DoesNotContain(text, Assert.Single(Resolve([], new() { [key] = text }).Warnings), StringComparison.Ordinal);

    [Theory]
    [InlineData("usenet.streaming-stall-seconds", " 7 ", "7")]
    [InlineData("streaming.verify-before-serve", "ON", "true")]
    [InlineData("streaming.verify-before-serve", "no", "false")]
    [InlineData("general.log-level", "Warning", "warning")]
    [InlineData("api.categories", " tv , movies ,, TV", """["tv","movies"]""")]
    [InlineData("api.categories", """["tv","a, b"]""", """["tv","a, b"]""")]
    [InlineData("api.manual-category", " Ame\u0301lie ", "Am\u00E9lie")]
    [InlineData("webdav.no-auth-networks", "192.168.1.0/24,::1,10.0.0.7", """["192.168.1.0/24","::1","10.0.0.7"]""")]
    [InlineData("rclone.mount-dir", "/mnt/x/", "/mnt/x")]
    [InlineData("rclone.mount-dir", @"Z:\media", @"Z:\media")]
    [InlineData("rclone.host", " HTTP://Localhost:5572/ ", "http://localhost:5572")]
    [InlineData("rclone.host", "https://[::1]/rc/", "https://[::1]/rc")]
    [InlineData("usenet.in-flight-article-budget-mb", "0", "0")]
    [InlineData("usenet.in-flight-article-budget-mb", "64", "64")]
    public void Setting_value_is_normalized(string key, string text, string expected)
    {
        var settings = Resolve([], new() { [key] = text });

        Assert.Equal(expected, settings.Text(key));
        Assert.Empty(settings.Warnings);
    }

    [Theory]
    [InlineData("STREAM_BUFFER_SIZE", "100", "usenet.read-ahead-mb", "70")]
    [InlineData("SLUICE_CONFIG__USENET__ARTICLE_BUFFER_SIZE", "50", "usenet.read-ahead-mb", "35")]
    [InlineData("QUEUE_ITEM_STUCK_MINUTES", "5", "queue.step-timeout-seconds", "300")]
    [InlineData("TOTAL_STREAMING_CONNECTIONS", "30", "usenet.max-download-connections", "30")]
    [InlineData("USENET_DISABLE_CRC_VALIDATION", "1", "usenet.crc-check", "false")]
    [InlineData("NZBDAV_CONFIG__USENET__PIPELINED_BODY_REQUESTS", "false", "usenet.streaming-body-batch-width", "1")]
    [InlineData("NZBDAV_CONFIG__USENET__PIPELINED_BODY_REQUESTS", "true", "usenet.streaming-body-batch-width", "0")]
    [InlineData("NZBDAV_CONFIG__USENET__PIPELINING__DEPTH", "5", "usenet.queue-pipelining.depth", "5")]
    [InlineData("NZBDAV_CONFIG__API__MAX_QUEUE_CONNECTIONS", "4", "usenet.max-queue-connections", "4")]
    [InlineData("MOUNT_DIR", "/media", "rclone.mount-dir", "/media")]
    [InlineData("WEBDAV_USER", "me", "webdav.user", "me")]
    [InlineData("CATEGORIES", "a,b", "api.categories", """["a","b"]""")]
    [InlineData("LOG_LEVEL", "debug", "general.log-level", "debug")]
    [InlineData("NZBDAV_CONFIG__RCLONE__RC", Remote, "rclone.rc-enabled", "true")]
    [InlineData("NZBDAV_CONFIG__RCLONE__RC", Remote, "rclone.host", "http://rclone:5572")]
    [InlineData("NZBDAV_CONFIG__RCLONE__RC", Remote, "rclone.pass", "p:1")]
    [InlineData("NZBDAV_CONFIG__RCLONE__RC", Remote, "rclone.user", "")]
    public void Legacy_names_are_converted_from_their_own_units(string variable, string text, string key, string expected)
    {
        var settings = Resolve(new() { [variable] = text });

        Assert.Equal(expected, settings.Text(key));
        Assert.Empty(settings.Warnings);
    }

    [Theory]
    [InlineData("[]")]
    [InlineData("{\"Password\":\"canary\"")]
    [InlineData("{\"Password\":\"canary\",\"password\":\"canary\",\"Enabled\":\"perhaps\"}")]
    public void Unusable_legacy_object_warns_once_without_its_content(string text)
    {
        var settings = Resolve(new() { ["NZBDAV_CONFIG__RCLONE__RC"] = text });

        Assert.False(settings.Boolean("rclone.rc-enabled"));
        var warning = Assert.Single(settings.Warnings);
        Assert.StartsWith("rclone.rc-enabled from NZBDAV_CONFIG__RCLONE__RC", warning, StringComparison.Ordinal);
        Assert.DoesNotContain("canary", warning, StringComparison.Ordinal);
    }

    [Fact]
    public void Variable_with_FILE_reads_its_value_from_a_file()
    {
        File.WriteAllText(_file, "from-a-file\n");

        var settings = Resolve(new() { ["SLUICE_CONFIG__WEBDAV__PASS_FILE"] = _file });

        Assert.Equal("from-a-file", settings.Text("webdav.pass"));
        Assert.Empty(settings.Warnings);
    }

    [Fact]
    public void Unsubstituted_variable_warns_and_has_no_effect()
    {
        var environment = new ProcessEnvironment(new Dictionary<string, string> { ["SLUICE_ADMIN_PASSWORD"] = "${SLUICE_ADMIN_PASSWORD:-}" });

        Assert.Null(ProcessOptions.Read(environment).AdminPassword);
        Assert.Equal("SLUICE_ADMIN_PASSWORD has no effect, because its value is a variable that was not replaced", Assert.Single(environment.Warnings));
    }

    [Fact]
    public void Unreadable_FILE_warns_and_falls_back_to_the_next_source()
    {
        var settings = Resolve(new() { ["SLUICE_CONFIG__WEBDAV__USER_FILE"] = _file + ".missing" }, new() { ["webdav.user"] = "saved" });

        Assert.Equal("saved", settings.Text("webdav.user"));
        Assert.Contains("SLUICE_CONFIG__WEBDAV__USER_FILE", Assert.Single(settings.Warnings), StringComparison.Ordinal);
    }

    private static EffectiveSettings Resolve(Dictionary<string, string> environment, Dictionary<string, string>? saved = null) =>
        new SettingsResolver(SettingSchema.All, new ProcessEnvironment(environment)).Resolve(saved ?? []);
}
