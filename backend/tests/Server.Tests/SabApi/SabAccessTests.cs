using System.Net;
using System.Text;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.SabApi;

public sealed class SabAccessTests : IDisposable
{
    private const string NzbKey = "fedcba9876543210fedcba9876543210";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Every_API_path_answers_with_the_same_headers()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var path in new[] { "/api", "/api/", "/sabnzbd/api", "/sabnzbd/api/" })
        {
            using var answer = await host.Client.GetAsync(new Uri(path + "?mode=version", UriKind.Relative), Token);

            // Checked before the body is read, because HttpClient then normalizes the header.
            Assert.Equal("application/json;charset=UTF-8", answer.Content.Headers.NonValidated["Content-Type"].ToString());
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
            Assert.Equal("""{"version":"5.0.4"}""", await answer.Content.ReadAsStringAsync(Token));
            Assert.Equal("no-cache", answer.Headers.NonValidated["Pragma"].ToString());
            Assert.Equal("no-store", answer.Headers.NonValidated["Cache-Control"].ToString());
            Assert.Equal("*", answer.Headers.NonValidated["Access-Control-Allow-Origin"].ToString());
        }

        using var admin = await host.Client.GetAsync(new Uri($"/api/queue?mode=version&apikey={ProductHost.Key}", UriKind.Relative), Token);
        Assert.NotEqual(HttpStatusCode.OK, admin.StatusCode);
    }

    [Theory]
    [InlineData("/foo/api?mode=version&apikey=wrong", 404)]
    [InlineData("/foo/bar/api/?mode=queue&apikey=" + ProductHost.Key, 404)]
    [InlineData("/sabnzbd/foo/api?mode=queue&apikey=wrong", 404)]
    [InlineData("/config/api?apikey=wrong", 404)]
    [InlineData("/api/api?apikey=wrong", 404)]
    [InlineData("/api/api/?mode=queue&apikey=" + ProductHost.Key, 404)]
    [InlineData("/api/sabnzbd/api?mode=version&apikey=wrong", 404)]
    [InlineData("/foo/api?mode=queue", 401)]
    [InlineData("/foo/apis?apikey=wrong", 401)]
    [InlineData("/content/foo/api?apikey=wrong", 401)]
    [InlineData("/completed-symlinks/tv/api?apikey=wrong", 401)]
    [InlineData("/nzbs/api?apikey=wrong", 401)]
    [InlineData("/.ids/api?apikey=wrong", 401)]
    [InlineData("/view/content/api?apikey=wrong", 401)]
    public async Task Call_at_a_wrong_path_is_not_found_unless_in_the_tree(string target, int status)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var method in new[] { HttpMethod.Get, HttpMethod.Post })
        {
            using var request = new HttpRequestMessage(method, target);
            using var answer = await host.Client.SendAsync(request, Token);

            Assert.Equal(status, (int)answer.StatusCode);
            Assert.Equal(
                status == 404 ? """{"status":false,"error":"There is no API at this path. Check the URL base"}""" : "",
                await answer.Content.ReadAsStringAsync(Token));
        }
    }

    [Theory]
    [InlineData("mode=queue", null, 403, "API Key Required")]
    [InlineData("mode=queue&apikey=wrong", null, 403, "API Key Incorrect")]
    [InlineData("mode=nonsense", null, 403, "API Key Required")]
    [InlineData("mode=queue", "Sonarr/4.0.9 (alpine)", 200, """{"status":false,"error":"API Key Required"}""")]
    [InlineData("mode=queue&apikey=wrong", "Prowlarr/1.2", 200, """{"status":false,"error":"API Key Incorrect"}""")]
    [InlineData("mode=auth", null, 200, """{"auth":"apikey"}""")]
    [InlineData("mode=auth&key=" + ProductHost.Key, null, 200, """{"auth":"apikey"}""")]
    [InlineData("mode=auth&key=wrong", null, 200, """{"auth":"badkey"}""")]
    [InlineData("apikey=" + ProductHost.Key, null, 200, """{"status":false,"error":"not implemented"}""")]
    [InlineData("mode=Queue&apikey=" + ProductHost.Key, null, 200, """{"status":false,"error":"not implemented"}""")]
    [InlineData("mode=shutdown&apikey=" + ProductHost.Key, null, 200, """{"status":false,"error":"not implemented"}""")]
    public async Task Missing_or_wrong_key_is_refused_with_its_message(string query, string? agent, int status, string body)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        if (agent is not null)
            host.Client.DefaultRequestHeaders.UserAgent.ParseAdd(agent);

        using var answer = await host.Client.GetAsync(new Uri("/api?" + query, UriKind.Relative), Token);

        Assert.Equal(body[0] == '{' ? "application/json;charset=UTF-8" : "text/html;charset=utf-8", answer.Content.Headers.NonValidated["Content-Type"].ToString());
        Assert.Equal((status, body), ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync(Token)));
    }

    [Fact]
    public async Task Key_is_accepted_in_header_form_and_multipart_field()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var header = new HttpRequestMessage(HttpMethod.Get, "/api?mode=queue") { Headers = { { "X-Api-Key", ProductHost.Key } } };
        using var form = new FormUrlEncodedContent([new("mode", "queue"), new("apikey", ProductHost.Key)]);
        using var multipart = new MultipartFormDataContent
        {
            { new StringContent(ProductHost.Key), "apikey" },
            { new StringContent("addfile"), "mode" },
            { new ByteArrayContent(NzbText.Of("a.mkv")), "nzbFile", "Rel.nzb" },
            { new StringContent("tv"), "cat" },
        };

        Assert.StartsWith("""{"queue":""", await BodyAsync(host.Client.SendAsync(header, Token)), StringComparison.Ordinal);
        Assert.StartsWith("""{"queue":""", await BodyAsync(host.Client.PostAsync(new Uri("/api", UriKind.Relative), form, Token)), StringComparison.Ordinal);
        Assert.StartsWith("""{"status":true,""", await BodyAsync(host.Client.PostAsync(new Uri("/api", UriKind.Relative), multipart, Token)), StringComparison.Ordinal);
        Assert.Equal("tv", (await host.CallAsync("mode=queue", Token)).GetProperty("queue").GetProperty("slots")[0].GetProperty("cat").GetString());
    }

    [Fact]
    public async Task Query_wins_over_the_body()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new FormUrlEncodedContent([new("mode", "version"), new("apikey", "wrong")]);

        var body = await BodyAsync(host.Client.PostAsync(new Uri($"/api?mode=queue&mode=version&apikey={ProductHost.Key}", UriKind.Relative), form, Token));

        Assert.StartsWith("""{"queue":""", body, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Upload_without_a_key_writes_nothing()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent { { new ByteArrayContent(NzbText.Of("a.mkv")), "name", "Rel.nzb" } };

        using var answer = await host.Client.PostAsync(new Uri("/api?mode=addfile", UriKind.Relative), form, Token);

        Assert.Equal((HttpStatusCode.Forbidden, "API Key Required"), (answer.StatusCode, await answer.Content.ReadAsStringAsync(Token)));
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Key_field_before_a_large_file_allows_the_upload()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent
        {
            { new StringContent(new string('n', 20_000)), "comment" },
            { new StringContent(ProductHost.Key), "apikey" },
            { new StringContent("addfile"), "mode" },
            { new ByteArrayContent(NzbText.Of([.. Enumerable.Range(0, 5000).Select(i => $"{i}.mkv")])), "name", "Rel.nzb" },
        };
        Assert.True(form.Headers.ContentLength > 1 << 20);

        Assert.StartsWith("""{"status":true,""", await BodyAsync(host.Client.PostAsync(new Uri("/api", UriKind.Relative), form, Token)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(200, 200)]
    [InlineData(70_000, 413)]
    public async Task File_before_the_API_key_gets_the_anonymous_size_limit(int padding, int status)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent
        {
            { new ByteArrayContent([.. NzbText.Of("a.mkv"), .. Encoding.UTF8.GetBytes($"<!--{new string('x', padding)}-->")]), "name", "Rel.nzb" },
            { new StringContent("addfile"), "mode" },
            { new StringContent(ProductHost.Key), "apikey" },
            { new StringContent("tv"), "cat" },
        };

        using var answer = await host.Client.PostAsync(new Uri("/api", UriKind.Relative), form, Token);

        Assert.Equal(status, (int)answer.StatusCode);
        Assert.Equal(status == 200 ? 1 : 0, Directory.GetFiles(_folder.Folder.Blobs, "*.nzb.br").Length);
    }

    [Theory]
    [InlineData("mode=auth&key=" + NzbKey, 200, """{"auth":"nzbkey"}""")]
    [InlineData("mode=addfile&apikey=" + NzbKey, 200, """{"status":false,"error":"expects one parameter"}""")]
    [InlineData("mode=queue&apikey=" + NzbKey, 403, "API Key Incorrect")]
    [InlineData("mode=nonsense&apikey=" + NzbKey, 403, "API Key Incorrect")]
    [InlineData("mode=queue&output=xml&apikey=" + NzbKey, 403, "API Key Incorrect")]
    [InlineData("mode=queue&ma_username=admin", 403, "API Key Required")]
    [InlineData("mode=queue&ma_username=admin&ma_password=wrong", 403, "API Key Incorrect")]
    [InlineData("mode=queue&ma_username=other&ma_password=" + ProductHost.Password, 403, "API Key Incorrect")]
    [InlineData("mode=queue&apikey=wrong&ma_username=admin&ma_password=" + ProductHost.Password, 403, "API Key Incorrect")]
    [InlineData("mode=translate&value=x&ma_username=admin&ma_password=" + ProductHost.Password, 200, """{"value":"x"}""")]
    public async Task NZB_key_may_only_add_and_a_login_works_without_a_key(string query, int status, string body)
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__API__NZB_KEY", NzbKey));

        using var answer = await host.Client.GetAsync(new Uri("/api?" + query, UriKind.Relative), Token);

        Assert.Equal((status, body), ((int)answer.StatusCode, await answer.Content.ReadAsStringAsync(Token)));
    }

    [Fact]
    public async Task Refusal_to_an_arr_is_JSON_even_if_XML_is_requested()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        host.Client.DefaultRequestHeaders.UserAgent.ParseAdd("Radarr/5.0");

        Assert.Equal(
            """{"status":false,"error":"API Key Required"}""",
            await BodyAsync(host.Client.GetAsync(new Uri("/api?mode=queue&output=xml", UriKind.Relative), Token)));
    }

    [Fact]
    public async Task Login_or_NZB_key_in_form_fields_allows_an_upload()
    {
        await using var host = await ProductHost.StartAsync(_folder, null, null, ("SLUICE_CONFIG__API__NZB_KEY", NzbKey));
        (string Name, string Value)[][] proofs = [[("apikey", NzbKey)], [("ma_username", "admin"), ("ma_password", ProductHost.Password)], [("ma_password", ProductHost.Password), ("ma_username", "admin")]];
        foreach (var proof in proofs)
        {
            using var form = new MultipartFormDataContent();
            foreach (var (name, value) in proof)
                form.Add(new StringContent(value), name);
            form.Add(new ByteArrayContent(NzbText.Of("a.mkv")), "name", "Rel.nzb");
            form.Add(new StringContent("addfile"), "mode");

            Assert.StartsWith("""{"status":true,""", await BodyAsync(host.Client.PostAsync(new Uri("/api", UriKind.Relative), form, Token)), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Wrong_logins_are_throttled_but_the_right_one_is_not()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        var right = new Uri($"/api?mode=get_cats&ma_username=admin&ma_password={ProductHost.Password}", UriKind.Relative);
        using var first = await host.Client.GetAsync(right, Token);
        var statuses = new List<HttpStatusCode>();
        for (var i = 0; i < 11; i++)
        {
            using var guess = await host.Client.GetAsync(new Uri($"/api?mode=get_cats&ma_username=admin&ma_password=guess{i}", UriKind.Relative), Token);
            statuses.Add(guess.StatusCode);
        }

        Assert.Equal([.. Enumerable.Repeat(HttpStatusCode.Forbidden, 10), HttpStatusCode.TooManyRequests], statuses);
        using var again = await host.Client.GetAsync(right, Token);
        Assert.Equal((HttpStatusCode.OK, HttpStatusCode.OK), (first.StatusCode, again.StatusCode));
    }

    [Theory]
    [InlineData("apikey=wrong", 403, "API Key Incorrect")]
    [InlineData("", 413, """{"status":false,"error":"NZB is too large"}""")]
    public async Task Unauthenticated_body_is_refused_within_64_KiB(string query, int status, string text)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        foreach (var type in new[] { "multipart/form-data; boundary=x", "application/x-www-form-urlencoded" })
        {
            await using var connection = await WebDav.RawConnection.OpenAsync(host.Client.BaseAddress!);
            await connection.SendRawAsync(
                $"POST /api?{query} HTTP/1.1\r\nHost: x\r\nContent-Type: {type}\r\nContent-Length: 16777216\r\nExpect: 100-continue\r\n\r\n");
            if (query.Length == 0 && type[0] == 'm')
            {
                Assert.Equal(100, (await connection.ReadHeadAsync()).Status);
                var field = $"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n{new string('v', 20_000)}\r\n";
                await connection.SendRawAsync(string.Concat(Enumerable.Repeat(field, 4)));
            }

            var answer = await connection.ReadHeadAsync();
            await connection.ReadBodyAsync(answer);
            Assert.Equal((status, text), (answer.Status, answer.Text));
        }
    }

    [Fact]
    public async Task Key_after_64_KiB_of_other_fields_is_refused()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent
        {
            { new StringContent(new string('a', 32_000)), "a" },
            { new StringContent(new string('b', 32_000)), "b" },
            { new StringContent(new string('c', 1_500)), "c" },
            { new StringContent(ProductHost.Key), "apikey" },
        };

        using var answer = await host.Client.PostAsync(new Uri("/api?mode=queue", UriKind.Relative), form, Token);

        Assert.Equal(HttpStatusCode.RequestEntityTooLarge, answer.StatusCode);
    }

    [Theory]
    [InlineData(1, 32 << 10, 200)]
    [InlineData(1, (32 << 10) + 1, 400)]
    [InlineData(2, 32 << 10, 200)]
    [InlineData(4, 20_000, 400)]
    public async Task Form_fields_are_limited_individually_and_in_total(int count, int length, int status)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var form = new MultipartFormDataContent();
        for (var i = 0; i < count; i++)
            form.Add(new StringContent(new string('v', length)), "a");

        using var answer = await host.Client.PostAsync(new Uri($"/api?mode=queue&apikey={ProductHost.Key}", UriKind.Relative), form, Token);

        Assert.Equal(status, (int)answer.StatusCode);
    }

    [Theory]
    [InlineData("--x\r\nContent-Disposition: form-data; name=\"name\"; filename=\"a.nzb\"\r\n\r\n<nzb>")]
    [InlineData("no parts at all")]
    public async Task Broken_multipart_gets_400_and_leaves_no_file(string body)
    {
        await using var host = await ProductHost.StartAsync(_folder);
        using var content = new ByteArrayContent(Encoding.ASCII.GetBytes(body));
        content.Headers.TryAddWithoutValidation("Content-Type", "multipart/form-data; boundary=x");

        using var answer = await host.Client.PostAsync(new Uri($"/api?mode=addfile&apikey={ProductHost.Key}", UriKind.Relative), content, Token);

        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.Empty(Directory.GetFiles(_folder.Folder.Blobs));
    }

    [Fact]
    public async Task Wrong_keys_are_throttled_but_the_right_one_is_not()
    {
        await using var host = await ProductHost.StartAsync(_folder);
        for (var i = 0; i < 10; i++)
            await host.Client.GetAsync(new Uri($"/api?mode=queue&apikey=wrong{i}", UriKind.Relative), Token);

        using var refused = await host.Client.GetAsync(new Uri("/api?mode=queue&apikey=wrong", UriKind.Relative), Token);

        Assert.Equal(HttpStatusCode.TooManyRequests, refused.StatusCode);
        Assert.Equal("60", refused.Headers.NonValidated["Retry-After"].ToString());
        Assert.True((await host.CallAsync("mode=queue", Token)).TryGetProperty("queue", out _));
    }

    private static async Task<string> BodyAsync(Task<HttpResponseMessage> call)
    {
        using var answer = await call;
        return await answer.Content.ReadAsStringAsync(Token);
    }
}
