using System.Security.Cryptography;

namespace Sluice.Server.Settings;

/// <summary>All settings. A test compares them with docs/configuration.md (CFG-16).</summary>
internal static class SettingSchema
{
    /// <summary>Default of <c>rclone.mount-dir</c>.</summary>
    public const string MountDir = "/mnt/sluice";

    private const string Loopback = """["127.0.0.0/8","::1/128"]""";

    private const string LoopbackAndPrivate =
        """["127.0.0.0/8","::1/128","10.0.0.0/8","172.16.0.0/12","192.168.0.0/16","fc00::/7"]""";

    private const int KeyDigits = 32;

    /// <summary>Keys generated at the first startup. Unlike the WebDAV password, they are encrypted instead of hashed, because they must be readable.</summary>
    public static IEnumerable<string> MadeKeys => All.Where(static definition => definition is { Generated: true, Type: SettingType.Key }).Select(static definition => definition.Key);

    public static IReadOnlyList<SettingDefinition> All { get; } =
    [
        new("general.base-url", SettingType.Url) { Default = "http://localhost:3000", Fallbacks = [new("BASE_URL")] },
        new("general.url-base", SettingType.UrlPath) { Restart = true, Fallbacks = [new("URL_BASE"), new("NZBDAV_URL_BASE")] },
        new("general.log-level", SettingType.Choice)
        {
            Default = "information", Words = ["trace", "debug", "information", "warning", "error"], Fallbacks = [new("LOG_LEVEL")],
        },
        new("general.log-format", SettingType.Choice)
        {
            Default = "text", Words = ["text", "json"], Restart = true, Fallbacks = [new("LOG_FORMAT")],
        },
        new("general.trusted-proxies", SettingType.NetworkList)
        {
            Default = Loopback, Max = 256,
            Fallbacks = [new("TRUSTED_PROXY_CIDRS"), new("TRUST_PROXY") { Switch = (LoopbackAndPrivate, Loopback) }],
        },
        new("general.allowed-hosts", SettingType.HostList) { Default = "[]", Max = 256 },

        Number("auth.session-days", 1, 365, 30) with { Fallbacks = [new("SESSION_MAX_AGE", 1, 86_400)] },
        new("auth.secure-cookies", SettingType.Choice) { Default = "auto", Words = ["auto", "always", "never"], Fallbacks = [new("SECURE_COOKIES")] },

        Number("database.history-retention-days", 0, 3650, 90) with
        {
            Aliases = [new("api.history-retention-hours", 1, 24)], Fallbacks = [new("DATABASE_HISTORY_RETENTION_DAYS")],
        },

        new("api.key", SettingType.Key) { Min = 16, Max = 128, Secret = true, Generated = true, Fallbacks = [new("FRONTEND_BACKEND_API_KEY")] },
        new("api.nzb-key", SettingType.Key) { Min = 16, Max = 128, Secret = true, EmptyAllowed = true },
        new("api.strm-key", SettingType.Key) { Min = 16, Max = 128, Secret = true, Generated = true },
        new("api.categories", SettingType.NameList) { Default = """["audio","software","tv","movies","music","prowlarr","readarr"]""", Max = 64, Fallbacks = [new("CATEGORIES")] },
        new("api.manual-category", SettingType.Name) { Default = "uncategorized" },
        new("api.import-strategy", SettingType.Choice) { Default = "symlinks", Words = ["symlinks", "strm"] },
        new("api.completed-downloads-dir", SettingType.Path) { Default = "/data/completed-downloads" },
        new("api.also-create-strm", SettingType.Boolean) { Default = "false" },
        new("api.strm-library-dir", SettingType.Path) { Default = "/data/strm-library" },
        new("api.ensure-importable-video", SettingType.Boolean) { Default = "true", Aliases = [new("api.ensure-importable-media")] },
        new("api.importable-exempt-categories", SettingType.NameList)
        {
            Default = """["software","books","ebooks","comics","readarr"]""", Max = 64,
        },
        new("api.ensure-article-existence-categories", SettingType.LineList)
        {
            Default = "[]", Max = 64, Entries = "categories, or * for all",
            Aliases = [new("api.health-check-categories"), new("api.ensure-article-existence") { Switch = ("*", "[]") }],
        },
        new("api.article-existence-check-mode", SettingType.Choice) { Default = "full", Words = ["full", "sampled"] },
        new("api.skip-non-video-on-missing-articles", SettingType.Boolean) { Default = "true" },
        new("api.ignore-history-limit", SettingType.Boolean) { Default = "true" },
        Number("api.history-max-page-size", 60, 100_000, 10_000),
        new("api.duplicate-nzb-behavior", SettingType.Choice) { Default = "increment", Words = ["increment", "mark-failed"] },
        new("api.download-file-blocklist", SettingType.LineList)
        {
            Default = """["*.nfo","*.par2","*.sfv","*unpack.mkv","*.unpack.mp4"]""", Max = 256, Entries = "patterns of names with * and ?",
            Aliases = [new("api.download-extension-blacklist") { HoldsExtensions = true }],
        },
        new("api.sample-filter-enabled", SettingType.Boolean) { Default = "true", Aliases = [new("usenet.hide-samples")] },
        new("api.lazy-rar-parsing", SettingType.Boolean) { Default = "true" },
        new("api.archive-passwords", SettingType.LineList) { Default = "[]", Max = 100, Secret = true, Entries = "passwords" },
        new("api.user-agent", SettingType.Line) { Default = "SABnzbd/5.0.4", Min = 1, Max = 256, Fallbacks = [new("NZB_GRAB_USER_AGENT")] },
        new("api.addurl-trusted-hosts", SettingType.HostList) { Default = "[]", Max = 256, Fallbacks = [new("TRUSTED_INTERNAL_HOSTS")] },
        new("api.local-nzb-dirs", SettingType.PathList) { Default = "[]", Max = 64 },

        new("queue.watch-dir", SettingType.Path) { EmptyAllowed = true },
        Number("queue.worker-count", 1, 10, 2),
        Number("queue.max-items", 0, 1_000_000, 0),
        Number("queue.resume-threshold", 0, 1_000_000, 0),
        new("queue.paused", SettingType.Boolean) { Default = "false", IsState = true },
        Number("queue.step-timeout-seconds", 30, 1800, 180) with { Fallbacks = [new("QUEUE_ITEM_STUCK_MINUTES", 60)] },
        Number("queue.speed-limit-kbps", 0, 12_500_000, 0) with { IsState = true },
        Number("queue.speed-limit-percent", 1, 100, 100) with { IsState = true },

        new("usenet.providers", SettingType.Json) { Default = """{"Providers":[]}""", Secret = true },
        Number("usenet.max-download-connections", 0, 1000, 0) with
        {
            Aliases = [new("usenet.total-streaming-connections")], Fallbacks = [new("TOTAL_STREAMING_CONNECTIONS")],
        },
        Number("usenet.max-queue-connections", 0, 1000, 0) with { Aliases = [new("api.max-queue-connections")] },
        Number("usenet.streaming-priority", 0, 100, 80),
        Number("usenet.max-streams", 1, 2_000, 0) with { ZeroAllowed = true },
        Number("usenet.in-flight-article-budget-mb", 64, 65_536, 0) with { ZeroAllowed = true },
        Number("usenet.read-ahead-mb", 4, 512, 128) with
        {
            Aliases =
            [
                Segments("usenet.article-buffer-size"), Segments("usenet.stream-buffer-size"),
                Segments("webdav.stream-buffer-segments"), Segments("usenet.prefetch-window"),
            ],
            Fallbacks = [Segments("STREAM_BUFFER_SIZE")],
        },
        Number("usenet.streaming-read-timeout-seconds", 5, 120, 15),
        Number("usenet.streaming-write-timeout-seconds", 1, 86_400, 0) with { ZeroAllowed = true },
        Number("usenet.streaming-stall-seconds", 2, 40, 6) with { Aliases = [new("usenet.streaming-segment-timeout-seconds")] },
        Number("usenet.background-stall-seconds", 5, 120, 20) with
        {
            Aliases = [new("usenet.operation-timeout")], Fallbacks = [new("USENET_OPERATION_TIMEOUT")],
        },
        Number("usenet.streaming-segment-retries", 0, 5, 1),
        Number("usenet.connect-timeout-seconds", 1, 30, 4),
        Number("usenet.login-timeout-seconds", 2, 60, 8),
        Number("usenet.idle-connection-timeout-seconds", 15, 300, 45),
        new("usenet.warm-connections.enabled", SettingType.Boolean) { Default = "true" },
        Number("usenet.warm-connections.floor", 0, 64, 0),
        new("usenet.hedge.enabled", SettingType.Boolean) { Default = "true" },
        Number("usenet.hedge.floor-ms", 50, 10_000, 50),
        new("usenet.queue-pipelining.enabled", SettingType.Boolean) { Default = "true", Aliases = [new("usenet.pipelining.enabled")] },
        Number("usenet.queue-pipelining.depth", 1, 64, 8) with { Aliases = [new("usenet.pipelining.depth")] },
        Number("usenet.streaming-body-batch-width", 0, 8, 0) with { Aliases = [new("usenet.pipelined-body-requests") { Switch = ("0", "1") }] },
        new("usenet.cascade.enabled", SettingType.Boolean) { Default = "false" },
        Number("usenet.article-miss-cache-ttl-seconds", 30, 86_400, 3600),
        Number("usenet.article-miss-cache-max-entries", 100, 5_000_000, 100_000),
        new("usenet.segment-cache.enabled", SettingType.Boolean) { Default = "true", Restart = true },
        new("usenet.segment-cache.mode", SettingType.Choice) { Default = "edges", Words = ["edges", "all"], Restart = true },
        new("usenet.segment-cache.path", SettingType.Path) { EmptyAllowed = true, Restart = true },
        Number("usenet.segment-cache.max-gb", 1, 10_000, 2),
        new("usenet.shared-streams.enabled", SettingType.Boolean) { Default = "true" },
        Number("usenet.bandwidth-limit-mbps", 0, BandwidthSchedule.MostMegabits, 0),
        new("usenet.bandwidth-schedule", SettingType.Schedule),
        new("usenet.crc-check", SettingType.Boolean)
        {
            Default = "true", Fallbacks = [new("USENET_DISABLE_CRC_VALIDATION") { Switch = ("false", "true") }],
        },
        new("streaming.verify-before-serve", SettingType.Boolean) { Default = "false" },

        new("webdav.user", SettingType.Text) { Default = "admin", Min = 1, Max = 64, Fallbacks = [new("WEBDAV_USER")] },
        new("webdav.pass", SettingType.Password) { Min = ChosenPassword.MinLength, Max = ChosenPassword.MaxLength, Secret = true, Generated = true, Fallbacks = [new("WEBDAV_PASSWORD")] },
        new("webdav.no-auth-networks", SettingType.NetworkList) { Default = "[]", Max = 256 },
        new("webdav.static-download-key", SettingType.Key) { Min = 16, Max = 128, Secret = true, EmptyAllowed = true },
        new("webdav.preview-par2-files", SettingType.Boolean) { Default = "false" },
        new("webdav.windows-safe-paths", SettingType.Boolean) { Default = "true" },
        new("rclone.mount-dir", SettingType.Path) { Default = MountDir, Fallbacks = [new("MOUNT_DIR")] },
        new("rclone.rc-enabled", SettingType.Boolean) { Default = "false", Aliases = [Remote("Enabled")] },
        new("rclone.host", SettingType.Url) { Aliases = [Remote("Url")] },
        new("rclone.user", SettingType.Text) { Max = 128, Aliases = [Remote("Username")] },
        new("rclone.pass", SettingType.Line) { Max = 1024, Secret = true, Aliases = [Remote("Password")] },

        new("arr.instances", SettingType.Json) { Default = "{}", Secret = true },

        new("backup.schedule-enabled", SettingType.Boolean) { Default = "true" },
        Number("backup.schedule-time", 0, 1439, 180),
        Number("backup.retention-count", 1, 100, 5),
        Number("backup.retention-weeks", 0, 52, 4),
        new("backup.passphrase", SettingType.Line) { Min = 12, Max = 1024, Secret = true, EmptyAllowed = true },
        new("backup.second-dir", SettingType.Path) { EmptyAllowed = true },
        new("metrics.require-api-key", SettingType.Boolean) { Default = "true", Fallbacks = [new("METRICS_REQUIRE_API_KEY")] },
        new("updates.feed-url", SettingType.Url) { NeedsTls = true },

        Number("receipts.retention-days", 0, 3650, 400),

        Number("ui.pictures-max-mb", 0, 10_000, 100),
        new("ui.arr-posters", SettingType.Boolean) { Default = "true" },
    ];

    /// <summary>All settings for this process. The server's default address contains the actual port.</summary>
    public static IReadOnlyList<SettingDefinition> For(ProcessOptions process)
    {
        var port = process.PublishedPort ?? process.Port;
        var address = $"{(process.UsesTls ? "https" : "http")}://localhost:{port}";
        return port == 0 ? All : [.. All.Select(definition => definition.Key == "general.base-url" ? definition with { Default = address } : definition)];
    }

    public static string MakeKey() => RandomNumberGenerator.GetHexString(KeyDigits, lowercase: true);

    private static SettingDefinition Number(string key, long min, long max, long fallback) =>
        new(key, SettingType.Number) { Min = min, Max = max, Default = fallback.ToString(System.Globalization.CultureInfo.InvariantCulture) };

    /// <summary>Related servers keep all settings of rclone's remote control in one JSON object, so the alias names a member of it.</summary>
    private static SettingAlias Remote(string member) => new("rclone.rc") { Member = member };

    /// <summary>Related servers count in segments of about 0.7 MiB, so the alias converts numbers.</summary>
    private static SettingAlias Segments(string name) => new(name, 7, 10);
}
