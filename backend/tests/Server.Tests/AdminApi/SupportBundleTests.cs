using System.IO.Compression;
using System.Net;
using System.Text;
using Dapper;
using Microsoft.Extensions.Logging;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Tests.Database;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>The support bundle (OPS-50). <see cref="SecretAnswerTests"/> searches it for secrets.</summary>
public sealed class SupportBundleTests : IDisposable
{
    private const int MaxBundleBytes = 20_000_000;
    private const int MaxLogBytes = 5_000_000;
    private const string Film = "Harbour.Lights.2024.1080p";
    private const string Gone = "Paper Moon Rising (2023)";

    private static readonly string[] Files = ["about.txt", "system.txt", "settings.txt", "providers.jsonl", "failures.txt", "tables.txt", "log.txt"];

    // Columns whose names suggest otherwise: they hold no name of a release and no path to one.
    private static readonly string[] Harmless =
    [
        "admin_account.name", "admin_key.name", "first_step.name", "pending_step.name", "release.title", "removed_release.title", "queue_file.folder", "queue_item.folder",
        "history_item.folder", "removed_queue_file.folder", "removed_queue_item.folder", "removed_history_item.folder", "file_lie.file", "file_media.file_id", "file_position.file_id",
        "picture.file_id", "queue_item.file", "queue_item.files", "removed_file_media.file_id", "removed_file_position.file_id", "removed_item.files", "removed_picture.file_id",
        "removed_queue_item.file", "removed_queue_item.files", "removed_strm.file_id", "release.titled", "removed_release.titled", "queue_item.named", "removed_queue_item.named",
        "receipt.file", "receipt.files",
    ];

    private readonly TemporaryFolder _temporary = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public async Task Bundle_has_the_listed_files_and_no_others()
    {
        await using var server = await JobServer.StartAsync(_temporary);
        Say(server, "a line of the log");

        var (body, type, name) = await server.DownloadAsync("system/support-bundle");
        var files = await UnpackAsync(body);

        Assert.Equal("application/zip", type?.MediaType);
        Assert.Matches("^sluice-support-[0-9]{4}-[0-9]{2}-[0-9]{2}[.]zip$", name);
        Assert.Equal(Files, files.Keys);
        Assert.All(files.Values.Where((_, i) => Files[i] is not ("providers.jsonl" or "failures.txt")), text => Assert.NotEqual("", text));
        Assert.Contains($"database version {Migration.LoadEmbedded().Count}", files["system.txt"], StringComparison.Ordinal);
        Assert.Contains("check: Database ok.", files["system.txt"], StringComparison.Ordinal);
        Assert.Contains("api.key=******** (", files["settings.txt"], StringComparison.Ordinal);
        Assert.Contains("queue.worker-count=2 (Default)", files["settings.txt"], StringComparison.Ordinal);
        Assert.Contains("history_item: 0 rows", files["tables.txt"], StringComparison.Ordinal);
        Assert.Contains("sluice.db: ", files["tables.txt"], StringComparison.Ordinal);
        Assert.Contains("Test: a line of the log", files["log.txt"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Names_of_releases_and_files_are_replaced()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_temporary, mock, null, ("LOG_LEVEL", "debug"));
        var film = await ImportAsync(server, Film);
        await ImportAsync(server, Gone);
        var failed = await server.AddAsync("Lost Film 1999");
        await server.WaitForHistoryAsync(failed);
        using (var read = await server.Host.SendAsync(HttpMethod.Get, $"content/movies/{Uri.EscapeDataString(Gone)}/film.mkv", null, Token))
            Assert.Equal(HttpStatusCode.OK, read.StatusCode);
        await LoggedAsync(server, "GET /content/movies/");
        // Not one of its names is in the database any more, but the log still has them.
        await server.Host.Get<SluiceDatabase>().WriteAsync(
            connection => connection.Execute("DELETE FROM history_item WHERE name = @Gone; DELETE FROM release WHERE name = @Gone", new { Gone }), Token);
        Say(server, "A sentence about Harbour.lights.2024.1080p, and about part.of.it.mkv");

        var masked = await UnpackAsync((await server.DownloadAsync("system/support-bundle")).Body);
        var named = await UnpackAsync((await server.DownloadAsync("system/support-bundle?names=true")).Body);

        string[] names = [Film, Gone, Uri.EscapeDataString(Gone), "Lost Film 1999", "film.mkv", "part.of.it.mkv"];
        Assert.All(masked, file => Assert.All(names, name => Assert.DoesNotContain(name, file.Value, StringComparison.OrdinalIgnoreCase)));
        Assert.All([Film, Gone, "part.of.it.mkv"], name => Assert.Contains(name, named["log.txt"], StringComparison.Ordinal));
        Assert.Contains("Lost Film 1999", named["failures.txt"], StringComparison.Ordinal);

        // The same name has the same word in all files and lines.
        var word = Assert.Single(masked["failures.txt"].Split('\n', StringSplitOptions.RemoveEmptyEntries)).Split(' ')[2];
        Assert.Matches("^film-[0-9a-f]{4}$", word);
        Assert.Contains($"{word} failed: ", masked["log.txt"], StringComparison.Ordinal);
        var ready = masked["log.txt"].Split('\n').Single(line => line.Contains($"({film})", StringComparison.Ordinal) && line.Contains("is ready", StringComparison.Ordinal));
        Assert.Contains($"A sentence about {ready.Split(": ")[1].Split(' ')[0]}, and about film-", masked["log.txt"], StringComparison.Ordinal);
        Assert.Contains("GET /content/movies/film-", masked["log.txt"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Client_addresses_are_truncated_to_their_network()
    {
        await using var server = await JobServer.StartAsync(_temporary);
        Say(server, "Wrong password from 203.0.113.77. Not from 127.0.0.1, [2001:db8:12:34::56]:3000 or ::ffff:198.51.100.9");

        var files = await UnpackAsync((await server.DownloadAsync("system/support-bundle")).Body);

        Assert.Contains("from 203.0.113.0/24. Not from 127.0.0.1, [2001:db8:12::/48]:3000 or 198.51.100.0/24", files["log.txt"], StringComparison.Ordinal);
    }

    [Fact]
    public async Task Full_log_is_truncated_to_its_newest_lines()
    {
        await using var server = await JobServer.StartAsync(_temporary);
        Fill(server, 600);

        var (body, _, _) = await server.DownloadAsync("system/support-bundle?names=true");
        var log = (await UnpackAsync(body))["log.txt"];

        Assert.InRange(body.Length, 1, MaxBundleBytes);
        Assert.InRange(Encoding.UTF8.GetByteCount(log), MaxLogBytes - 50_000, MaxLogBytes);
        Assert.Contains("line 599: ", log, StringComparison.Ordinal);
        Assert.DoesNotContain("line 100: ", log, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Client_disconnect_is_not_logged_as_a_failure()
    {
        await using var server = await JobServer.StartAsync(_temporary, null, null, ("LOG_LEVEL", "debug"));
        Fill(server, 400);

        using (var answer = await server.Client.GetAsync(new Uri("api/system/support-bundle", UriKind.Relative), HttpCompletionOption.ResponseHeadersRead, Token))
        {
            await using var content = await answer.Content.ReadAsStreamAsync(Token);
            await content.ReadExactlyAsync(new byte[100], Token);
        }

        // The line of a request comes after that of its failure.
        await LoggedAsync(server, "GET /api/system/support-bundle from");
        Assert.DoesNotContain(server.Host.Get<LogRing>().Lines, line => line.Text.StartsWith("GET /api/system/support-bundle failed", StringComparison.Ordinal));
    }

    [Fact]
    public void Every_column_with_names_is_searched()
    {
        string[] parts = ["name", "path", "title", "folder", "file"];
        using var connection = new Microsoft.Data.Sqlite.SqliteConnection("Data Source=:memory:");
        connection.Open();
        var columns = new MigrationRunner(Migration.LoadEmbedded(), _temporary.Folder)
            .SchemaOf(int.MaxValue, "SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'")
            .Where(column => parts.Any(part => column.Split('.')[1].Contains(part, StringComparison.Ordinal)));

        Assert.Equal(columns.Order(StringComparer.Ordinal), NameColumns.All.Select(place => $"{place.Table}.{place.Column}").Concat(Harmless).Order(StringComparer.Ordinal));
    }

    /// <summary>Unpacks a bundle into the texts of its files, in their order.</summary>
    internal static async Task<Dictionary<string, string>> UnpackAsync(byte[] bundle)
    {
        using var zip = new ZipArchive(new MemoryStream(bundle), ZipArchiveMode.Read);
        var texts = new Dictionary<string, string>();
        foreach (var entry in zip.Entries)
        {
            using var reader = new StreamReader(await entry.OpenAsync(Token));
            texts.Add(entry.FullName, await reader.ReadToEndAsync(Token));
        }

        return texts;
    }

    // Not through the framework, which would also print the line.
    private static void Say(JobServer server, string text, int number = 0) =>
        LogResourceTests.Say(server.Host.Get<LogRing>().CreateLogger("Sluice.Server.Test.X"), LogLevel.Information, text, number);

    /// <summary>Waits for a line of the log, because the line of a request is logged after its response.</summary>
    private static async Task LoggedAsync(JobServer server, string beginning)
    {
        var ring = server.Host.Get<LogRing>();
        while (!ring.Lines.Any(line => line.Text.StartsWith(beginning, StringComparison.Ordinal)))
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
    }

    /// <summary>Writes lines of 12 KB that cannot be compressed.</summary>
    private static void Fill(JobServer server, int lines)
    {
        var random = new Random(50);
        for (var i = 0; i < lines; i++)
            Say(server, $"line {i}: {string.Concat(Enumerable.Range(0, 4000).Select(_ => (char)random.Next(0x4E00, 0x9FA0)))}", 100 + i);
    }

    /// <summary>Imports a film under a name and returns the id of its item.</summary>
    private static async Task<string> ImportAsync(JobServer server, string name)
    {
        var nzb = MockRelease.Plain((ulong)name.Length, 60_000, articleSize: 20_000).ToNzb();
        var id = (await server.UploadAsync(nzb, name + ".nzb", HttpStatusCode.OK, ("category", "movies")))["ids"]![0]!.GetValue<string>();
        Assert.Equal("completed", (await server.WaitForHistoryAsync(id))["result"]!.ToString());
        return id;
    }
}
