using System.Globalization;
using System.Net.Http.Json;
using System.Text;
using System.Text.Json;
using Sluice.Server.Tests.Arr;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// A household for the commands of the guides: a server that is set up with one provider, a sound film and a damaged one, a Sonarr that sees the
/// mount, a Radarr that does not, and a working folder with NZBs. Its command <c>./mounted</c> mounts the server as the page about the mount
/// describes, unless it is mounted already, and fails if mounting is impossible.
/// </summary>
public sealed class GuideServer : IAsyncLifetime
{
    private const string AdminPassword = "correct-horse-of-the-house";
    private const int ArticleSize = 64_000;
    private const int LostPart = 40;

    private static readonly MockRelease Damaged = MockRelease.Plain(7, 60 * ArticleSize, articleSize: ArticleSize);

    private readonly ScratchFolder _folder = new();
    private MockServer _news = null!;
    private ServerProcess _server = null!;
    private ArrServerReplica _sonarr = null!;
    private ArrServerReplica _radarr = null!;

    /// <summary>Words of the pages and their replacements here, longer ones first, because some contain others.</summary>
    internal IReadOnlyList<(string Word, string Here)> Words { get; private set; } = [];

    public ValueTask InitializeAsync() => new(SetUpAsync(TestContext.Current.CancellationToken));

    /// <summary>Returns a text of a page with the words replaced.</summary>
    internal string Here(string text) => Words.Aggregate(text, static (changed, word) => changed.Replace(word.Word, word.Here, StringComparison.Ordinal));

    /// <summary>Runs a command in the folder as a reader would, with a home of its own; it ends at the first command that fails.</summary>
    internal Task<ProgramResult> RunAsync(string command, CancellationToken cancel) => ExternalProgram.RunAsync(
        "bash",
        ["-euo", "pipefail", "-c", $"cd \"$HOME\"\n{Here(command)}"],
        new Dictionary<string, string> { ["HOME"] = _folder.File("home"), ["XDG_CACHE_HOME"] = _folder.File("cache"), ["LC_ALL"] = "C.UTF-8", ["TZ"] = "UTC" },
        cancel);

    /// <summary>Removes the mount that a page has left, if any.</summary>
    internal Task UnmountAsync() =>
        ExternalProgram.RunAsync("bash", ["-c", Here("! mountpoint -q /mnt/sluice || fusermount3 -u -z /mnt/sluice")], null, CancellationToken.None);

    public async ValueTask DisposeAsync()
    {
        if (_sonarr is not null)
            await _sonarr.DisposeAsync();
        if (_radarr is not null)
            await _radarr.DisposeAsync();
        if (_server is not null)
            await _server.DisposeAsync();
        if (_news is not null)
            await _news.DisposeAsync();
        _folder.Dispose();
    }

    private async Task SetUpAsync(CancellationToken cancel)
    {
        Directory.CreateDirectory(_folder.File("home"));
        Directory.CreateDirectory(_folder.File("mnt"));
        _news = await MockServer.StartAsync(new MockOptions
        {
            Spool = RealPost.Spool,
            Releases = [Damaged],
            Missing = ArticleSelection.Article(Damaged.MessageId(0, LostPart)),
        });
        var mount = _folder.File("mnt");
        _sonarr = await ArrServerReplica.StartAsync("Sonarr");
        _sonarr.AddMount(mount);
        _radarr = await ArrServerReplica.StartAsync("Radarr");
        var port = ServerProcess.FreePort();
        _server = await ServerProcess.StartAsync(
            _folder.File("data"),
            port,
            new Dictionary<string, string>
            {
                ["SLUICE_ADMIN_PASSWORD"] = AdminPassword,
                ["SLUICE_CONFIG__RCLONE__MOUNT_DIR"] = mount,
                ["SLUICE_CONFIG__GENERAL__BASE_URL"] = string.Create(CultureInfo.InvariantCulture, $"http://127.0.0.1:{port}"),
                ["SLUICE_CONFIG__API__ALSO_CREATE_STRM"] = "true",
                ["SLUICE_CONFIG__API__STRM_LIBRARY_DIR"] = _folder.File("strm"),
            },
            cancel);

        var film = RealPost.Read("raw-mkv").Nzb;
        var key = await MakeKeyAsync(cancel);
        await AddProviderAsync(key, cancel);
        using var client = new SluiceClient(_server);
        await client.PublishedAsync(await client.AddFileAsync("movies", "film", film, cancel), cancel);
        await client.PublishedAsync(await client.AddFileAsync("movies", "damaged", Damaged.ToNzb(), cancel), cancel);

        var address = string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{port}");
        Words =
        [
            ("\"news.example.com\", \"port\": 563, \"tls\": true", string.Create(CultureInfo.InvariantCulture, $"\"127.0.0.1\", \"port\": {_news.Port}, \"tls\": false")),
            ("/data/strm-library", _folder.File("strm")),
            ("http://sonarr:8989", _sonarr.Url),
            ("http://radarr:7878", _radarr.Url),
            ("http://nas:3000", $"http://{address}"),
            ("nas:3000", address),
            ("/mnt/sluice", mount),
            ("SONARR_KEY", ArrServerReplica.Key),
            ("RADARR_KEY", ArrServerReplica.Key),
            ("SCRIPT_KEY", key),
            ("API_KEY", ServerProcess.ApiKey),
            ("PASSWORD", ServerProcess.Password),
        ];
        await WriteFilesAsync(film, cancel);
    }

    /// <summary>Writes an NZB of a film, an NZB whose articles the mock does not have, and the mount command.</summary>
    private async Task WriteFilesAsync(byte[] film, CancellationToken cancel)
    {
        await File.WriteAllBytesAsync(_folder.File("home/film.nzb"), film, cancel);
        await File.WriteAllTextAsync(_folder.File("home/gone.nzb"), Encoding.UTF8.GetString(film).Replace("@", ".gone@", StringComparison.Ordinal), cancel);
        await File.WriteAllTextAsync(_folder.File("home/mounted"), Here(
            """
            #!/bin/bash
            [ -c /dev/fuse ] && command -v fusermount3 >/dev/null || exit 1
            mountpoint -q /mnt/sluice || rclone mount --webdav-url http://nas:3000 --webdav-user admin --webdav-pass "$(rclone obscure PASSWORD)" \
              :webdav: /mnt/sluice --links --dir-cache-time 1s --vfs-cache-mode off --daemon
            """), cancel);
        (await RunAsync("chmod +x mounted", cancel)).Succeeded();
    }

    private async Task<string> MakeKeyAsync(CancellationToken cancel)
    {
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{_server.Port}/api/") };
        http.DefaultRequestHeaders.Add("X-Csrf", "1");
        http.DefaultRequestHeaders.Add("Origin", $"http://127.0.0.1:{_server.Port}");
        (await PostAsync(http, "session", $$"""{"user":"admin","password":"{{AdminPassword}}"}""", cancel)).Dispose();
        using var made = await PostAsync(http, "keys", """{"name":"guides","access":"full"}""", cancel);
        return made.RootElement.GetProperty("key").GetString()!;
    }

    private async Task AddProviderAsync(string key, CancellationToken cancel)
    {
        using var http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{_server.Port}/api/") };
        http.DefaultRequestHeaders.Add("X-Api-Key", key);
        (await PostAsync(http, "providers", $$"""{"host":"127.0.0.1","port":{{_news.Port}},"tls":false,"user":"","password":"","maxConnections":8,"name":"main"}""", cancel)).Dispose();
    }

    private static async Task<JsonDocument> PostAsync(HttpClient http, string path, string body, CancellationToken cancel)
    {
        using var content = new StringContent(body, Encoding.UTF8, "application/json");
        using var answer = await http.PostAsync(new Uri(path, UriKind.Relative), content, cancel);
        answer.EnsureSuccessStatusCode();
        return (await answer.Content.ReadFromJsonAsync<JsonDocument>(cancel))!;
    }
}
