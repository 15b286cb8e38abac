using System.Net;
using System.Security.Cryptography;
using System.Text;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>
/// Stored NZBs are kept if the database is damaged or belongs to other blobs (F32, F42, CFG-15, DAV-6, SAB-6).
/// </summary>
public sealed class SafeModeTests
{
    private const string Unavailable = """{"status":false,"error":"Database unavailable"}""";

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("emptied")]
    [InlineData("absent")]
    [InlineData("older")]
    [InlineData("foreign")]
    [InlineData("no database")]
    public async Task Database_not_matching_the_blobs_enters_safe_mode_losslessly(string how)
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        var older = films.CopyDatabase();
        await films.StartAsync();
        await films.AddAsync(4);
        await films.StopAsync();
        films.Age();
        var (good, stored) = (films.CopyDatabase(), films.StoredNzbs);
        Assert.Equal(5, stored.Count);
        films.PutDatabase(how switch
        {
            "emptied" => [],
            "absent" => null,
            "older" => older,
            "foreign" => await ForeignAsync(),
            _ => new byte[8192],
        });

        await films.StartAsync();
        await AssertIsSafeAsync(films);
        await films.StopAsync();

        Assert.Equal(stored, films.StoredNzbs);
        films.PutDatabase(good);
        await films.StartAsync();
        await films.AssertPlayAsync();
    }

    [Fact]
    public async Task Accept_variable_from_the_log_accepts_an_older_database_once()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        var older = films.CopyDatabase();
        await films.StartAsync();
        await films.AddAsync(7);
        await films.StopAsync();
        films.Age();
        var stored = films.StoredNzbs;
        films.PutDatabase(older);
        await films.StartAsync();
        await AssertIsSafeAsync(films);
        await films.StopAsync();
        var id = films.AcceptId;

        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", "00000000"));
        Assert.Equal("""{"status":"ok","mode":"safe"}""", await films.Host.Client.GetStringAsync("healthz", Token));
        await films.StopAsync();
        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", id));
        await films.AssertPlaysAsync(0);
        await films.StopAsync();
        Assert.Equal(stored, films.StoredNzbs);

        // The accepted database now belongs to these blobs, and the safety limit keeps blobs that it does not reference.
        await films.StartAsync();
        await films.AssertPlaysAsync(0);
        await films.StopAsync();
        Assert.Equal(stored, films.StoredNzbs);

        // The variable accepts one state of the database only.
        films.PutDatabase(older);
        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", id));
        Assert.Equal("""{"status":"ok","mode":"safe"}""", await films.Host.Client.GetStringAsync("healthz", Token));
    }

    [Fact]
    public async Task F42_Older_copy_of_the_same_run_enters_safe_mode()
    {
        await using var films = await PublishedFilms.CreateAsync(1);
        await films.StartAsync();
        var older = films.CopyRunningDatabase();
        await films.AddAsync(4);
        await films.StopAsync();
        films.Age();
        var (good, stored) = (films.CopyDatabase(), films.StoredNzbs);
        films.PutDatabase(older);

        await films.StartAsync();
        await AssertIsSafeAsync(films);
        await films.StopAsync();
        Assert.Equal(stored, films.StoredNzbs);

        // The accepted database does not reference the four later NZBs. They stay forever, but a later unreferenced file is quarantined.
        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", films.AcceptId));
        await films.AssertPlaysAsync(0);
        await films.StopAsync();
        films.AddOrphan();
        films.PutDatabase(films.CopyDatabase());
        await films.StartAsync();
        await films.UntilAsync(() => Task.FromResult(films.Quarantined.Count == 1));
        await films.StopAsync();
        Assert.Equal(stored, films.StoredNzbs);

        films.PutDatabase(good);
        await films.StartAsync();
        await AssertIsSafeAsync(films);
    }

    [Fact]
    public async Task Accept_variable_also_accepts_an_empty_database()
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        var stored = films.StoredNzbs;
        films.PutDatabase(null);
        await films.StartAsync();
        await AssertIsSafeAsync(films);
        await films.StopAsync();
        var id = films.AcceptId;

        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", id));

        Assert.Equal("""{"status":"ok","mode":"setup"}""", await films.Host.Client.GetStringAsync("healthz", Token));
        await films.Host.AddAsync(NzbText.Of("a.mkv"), "New.nzb", Token);
        await films.StopAsync();
        Assert.Superset(stored.ToHashSet(), films.StoredNzbs.ToHashSet());
    }

    [Fact]
    public async Task Bit_flip_in_an_index_enters_safe_mode_and_loses_no_NZB()
    {
        await using var films = await PublishedFilms.CreateAsync(5);
        // Only the release still refers to its NZB, as after the import by another program.
        films.Execute("DELETE FROM history_item");
        var stored = films.StoredNzbs;
        var (good, damaged) = (films.CopyDatabase(), films.CopyDatabase());
        var page = damaged.AsSpan((films.RootPage("release_nzb") - 1) * 4096, 4096);
        var at = page.IndexOf(System.Text.Encoding.ASCII.GetBytes(stored.First()));
        Assert.True(at >= 0, "The hash does not stand in the root page of its index.");
        page[at + 63] ^= 1;
        films.PutDatabase(damaged);

        await films.StartAsync();
        await films.UntilAsync(async () => films.StoredNzbs.Count < stored.Count || await films.IsSafeModeAsync());

        Assert.Equal(stored, films.StoredNzbs);
        await AssertIsSafeAsync(films);
        await films.StopAsync();
        films.PutDatabase(good);
        await films.StartAsync();
        await films.AssertPlayAsync();
    }

    [Theory]
    [InlineData("queue_item")]
    [InlineData("release")]
    [InlineData("setting")]
    public async Task Damaged_page_enters_safe_mode_without_writes(string table)
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        var (stored, damaged) = (films.StoredNzbs, films.CopyDatabase());
        new Random(1).NextBytes(damaged.AsSpan((films.RootPage(table) - 1) * 4096, 4096));
        films.PutDatabase(damaged);

        await films.StartAsync();
        await films.UntilAsync(films.IsSafeModeAsync);
        await AssertIsSafeAsync(films);
        await films.StopAsync();

        Assert.Equal(stored, films.StoredNzbs);
        Assert.Equal(damaged, films.CopyDatabase());
    }

    [Fact]
    public async Task Corruption_after_start_enters_safe_mode_and_keeps_streaming()
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        await films.StartAsync();
        await films.AssertPlaysAsync(0);
        var id = await FileIdAsync(films);
        using (var file = new FileStream(films.DatabaseFile, FileMode.Open, FileAccess.Write, FileShare.ReadWrite))
        {
            file.Position = 4096;
            file.Write(new byte[file.Length - 4096]);
        }

        await films.UntilAsync(async () =>
        {
            using var listing = await films.Host.Client.SendAsync(new HttpRequestMessage(new HttpMethod("PROPFIND"), "content/movies/"), Token);
            return await films.IsSafeModeAsync();
        });

        await AssertIsSafeAsync(films);
        await films.AssertPlaysAsync(0);
        using (var byId = await films.Host.Client.GetAsync(id, Token))
            Assert.Equal(HttpStatusCode.OK, byId.StatusCode);
        using (var stranger = new HttpClient { BaseAddress = films.Host.Client.BaseAddress })
        {
            const string film = "content/movies/Film 1/film.mkv";
            var key = Convert.ToHexStringLower(HMACSHA256.HashData(Encoding.UTF8.GetBytes(ProductHost.Key), Encoding.UTF8.GetBytes(film)));
            using var linked = await stranger.GetAsync(new Uri($"view/{film}?downloadKey={key}", UriKind.Relative), Token);
            Assert.Equal(HttpStatusCode.OK, linked.StatusCode);
        }

        using (var other = await films.Host.Client.GetAsync(new Uri("content/movies/Film 2/film.mkv", UriKind.Relative), Token))
            Assert.Equal(HttpStatusCode.ServiceUnavailable, other.StatusCode);
        Assert.Single(films.Log, line => line.StartsWith("Critical", StringComparison.Ordinal));
    }

    [Fact]
    public async Task First_and_later_starts_need_no_safe_mode()
    {
        await using var films = await PublishedFilms.CreateAsync(0);
        await films.StartAsync();
        Assert.Equal("""{"status":"ok","mode":"setup"}""", await films.Host.Client.GetStringAsync("healthz", Token));
        await films.AddAsync(1);
        await films.StopAsync();
        await films.StartAsync();
        await films.AssertPlayAsync();
        Assert.Empty(films.Quarantined);
    }

    private static async Task<byte[]> ForeignAsync()
    {
        await using var others = await PublishedFilms.CreateAsync(1);
        return others.CopyDatabase();
    }

    private static async Task<string> FileIdAsync(PublishedFilms films)
    {
        var link = await films.Host.Client.GetStringAsync(new Uri("completed-symlinks/movies/Film 1/film.mkv.rclonelink", UriKind.Relative), Token);
        return link[(link.IndexOf("/.ids/", StringComparison.Ordinal) + 1)..];
    }

    /// <summary>Checks that every request is rejected instead of showing an empty tree, with and without credentials.</summary>
    private static async Task AssertIsSafeAsync(PublishedFilms films)
    {
        var client = films.Host.Client;
        Assert.Equal("""{"status":"ok","mode":"safe"}""", await client.GetStringAsync("healthz", Token));
        using (var ready = await client.GetAsync("readyz", Token))
            Assert.Equal((HttpStatusCode.ServiceUnavailable, """{"status":"unavailable","reason":"database"}"""), (ready.StatusCode, await ready.Content.ReadAsStringAsync(Token)));

        using var stranger = new HttpClient { BaseAddress = client.BaseAddress };
        foreach (var caller in (HttpClient[])[client, stranger])
        {
            foreach (var path in (string[])["", "README"])
            {
                using var told = await caller.GetAsync(path, Token);
                var body = await told.Content.ReadAsStringAsync(Token);
                Assert.Equal(HttpStatusCode.ServiceUnavailable, told.StatusCode);
                Assert.Equal("30", Assert.Single(told.Headers.GetValues("Retry-After")));
                Assert.Contains("safe mode", body, StringComparison.Ordinal);
                Assert.DoesNotContain(films.Root, body, StringComparison.Ordinal);
            }

            foreach (var mode in (string[])["queue", "history", "addfile", "get_config", "no_such_mode"])
            {
                using var answer = await caller.GetAsync($"api?mode={mode}&output=json", Token);
                Assert.Equal((HttpStatusCode.OK, Unavailable), (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token)));
            }

            Assert.Contains("version", await caller.GetStringAsync("api?mode=version", Token), StringComparison.Ordinal);
        }

        foreach (var (verb, path) in ((string, string)[])
            [
                ("PROPFIND", ""), ("PROPFIND", "content/"), ("PROPFIND", "nzbs/movies/"), ("GET", "content/"), ("GET", ".health"),
                ("HEAD", "content/movies/"), ("GET", "nzbs/movies/._litter"), ("DELETE", "completed-symlinks/movies/Film%201/"),
                ("PUT", "nzbs/movies/x.nzb"), ("MKCOL", "nzbs/new/"), ("OPTIONS", "content/"), ("GET", "no-such-name"),
            ])
        {
            using var request = new HttpRequestMessage(new HttpMethod(verb), path);
            if (verb == "PUT")
                request.Content = new ByteArrayContent(NzbText.Of("a.mkv"));
            using var answer = await client.SendAsync(request, Token);
            Assert.True(answer.StatusCode == HttpStatusCode.ServiceUnavailable, $"{verb} /{path} is answered {(int)answer.StatusCode}");
            Assert.Equal("30", Assert.Single(answer.Headers.GetValues("Retry-After")));
        }

        using var added = await films.Host.PostFileAsync(NzbText.Of("a.mkv"), "Rel.nzb", "", Token);
        Assert.Equal((HttpStatusCode.OK, Unavailable), (added.StatusCode, await added.Content.ReadAsStringAsync(Token)));
    }
}
