using System.Net;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using Sluice.Testing;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// One request to each room of the server. The shipped form has neither reflection nor a compiler, so a room that needs one of them
/// fails at its first request.
/// </summary>
[Trait("Category", EndToEndRun.Name)]
[Trait("Category", EndToEndRun.Smoke)]
public sealed class ShippedFormTests(ShippedFormTests.ServerWithFilms shared) : IClassFixture<ShippedFormTests.ServerWithFilms>
{
    private const string Film = "content/movies/rar4/";

    // Room, request, body, status, and a text of the answer.
    private static readonly (string Room, string Request, string? Body, HttpStatusCode Status, string Text)[] Requests =
    [
        ("AdminApi", "GET api/system", null, HttpStatusCode.OK, "\"version\""),
        ("Arr", "POST api/arr/test", """{"kind":"sonarr","url":"http://127.0.0.1:9/","key":"k"}""", HttpStatusCode.UnprocessableEntity, "test-failed"),
        ("Auth", "POST api/keys", """{"name":"smoke","access":"full"}""", HttpStatusCode.OK, "\"key\""),
        ("Backups", "GET api/backups", null, HttpStatusCode.OK, "{"),
        ("Database", "GET api/settings/sets", null, HttpStatusCode.OK, "{"),
        ("Diagnostics", "GET api/logs", null, HttpStatusCode.OK, "\"text\""),
        ("Events", "GET api/events?topics=config", null, HttpStatusCode.OK, "data:"),
        ("FamilyImport", "GET api/setup/import", null, HttpStatusCode.OK, "{"),
        ("History", "GET api/history", null, HttpStatusCode.OK, "rar4"),
        ("Library", "GET api/files?path=movies/rar4", null, HttpStatusCode.OK, "\"bytes\""),
        ("Listening", "GET readyz", null, HttpStatusCode.OK, ""),
        ("Outbound", "POST api/queue/address", """{"url":"http://127.0.0.1:9/some.nzb"}""", HttpStatusCode.BadRequest, "\"title\""),
        ("Pages", "GET ", null, HttpStatusCode.OK, ""),
        ("Playbacks", "GET api/streams", null, HttpStatusCode.OK, "{"),
        ("Providers", "GET api/providers", null, HttpStatusCode.OK, "\"host\""),
        ("Queue", "GET api/queue", null, HttpStatusCode.OK, "{"),
        ("SabApi", "GET api?mode=queue&output=json&apikey=" + ServerProcess.ApiKey, null, HttpStatusCode.OK, "\"slots\""),
        ("Settings", "GET api/settings/schema", null, HttpStatusCode.OK, "webdav.user"),
        ("WebDav", "PROPFIND " + Film, null, HttpStatusCode.MultiStatus, "<"),
    ];

    private static readonly string[] Made = ["bin", "obj", "wwwroot"];

    public static TheoryData<string> Rooms => [.. Requests.Select(request => request.Room)];

    [Fact]
    public void Every_server_folder_has_a_test_request()
    {
        var rooms = Directory.GetDirectories(Repository.PathOf("backend/src/Server")).Select(room => Path.GetFileName(room)!)
            .Except(Made);
        Assert.Equal(rooms.Order(StringComparer.Ordinal), Requests.Select(request => request.Room));
    }

    [Theory]
    [MemberData(nameof(Rooms))]
    public async Task Shipped_server_answers_a_request_for_each_folder(string room)
    {
        var cancel = TestContext.Current.CancellationToken;
        var (_, line, body, status, text) = Requests.Single(request => request.Room == room);
        using var request = new HttpRequestMessage(new HttpMethod(line.Split(' ')[0]), new Uri(line.Split(' ')[1], UriKind.Relative));
        request.Content = body is null ? null : new StringContent(body, new MediaTypeHeaderValue("application/json"));
        using var answer = await shared.Http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel);

        var found = await ReadUntilAsync(answer, text, cancel);
        Assert.True(answer.StatusCode == status, $"{(int)answer.StatusCode}: {found}");
        Assert.Contains(text, found, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("raw-mkv")]
    [InlineData("rar4")]
    public async Task Film_is_read_byte_for_byte_and_its_tracks_are_listed(string release)
    {
        var cancel = TestContext.Current.CancellationToken;
        var post = RealPost.Read(release);
        var film = await shared.Client.GetAsync($"content/movies/{release}/{post.FileName}", cancel);
        Assert.Equal(post.Sha256, SluiceClient.Sha256(film));

        using var files = JsonDocument.Parse(await shared.Http.GetStringAsync(new Uri($"api/files?path=movies/{release}", UriKind.Relative), cancel));
        var id = files.RootElement.GetProperty("items").EnumerateArray().Single(file => file.GetProperty("name").GetString() == post.FileName).GetProperty("id");
        var tracks = await shared.Http.GetStringAsync(new Uri($"api/files/{id}/tracks", UriKind.Relative), cancel);
        Assert.Contains("\"video\"", tracks, StringComparison.Ordinal);
    }

    /// <summary>Reads an answer to its end, or until it contains a text, because an event stream has no end.</summary>
    private static async Task<string> ReadUntilAsync(HttpResponseMessage answer, string text, CancellationToken cancel)
    {
        await using var body = await answer.Content.ReadAsStreamAsync(cancel);
        var (found, buffer) = (new StringBuilder(), new byte[4096]);
        while (await body.ReadAsync(buffer, cancel) is var count and > 0)
        {
            found.Append(Encoding.UTF8.GetString(buffer, 0, count));
            if (text.Length > 0 && found.ToString().Contains(text, StringComparison.Ordinal))
                break;
        }

        return found.ToString();
    }

    /// <summary>A server with two films of a real poster.</summary>
    public sealed class ServerWithFilms : IAsyncLifetime
    {
        private const string AdminPassword = "correct-horse-of-the-house";

        private MockedServer _set = null!;

        internal SluiceClient Client => _set.Client;

        /// <summary>A client that sends the administrator's session cookie to the admin API and a password to WebDAV.</summary>
        internal HttpClient Http { get; private set; } = null!;

        public async ValueTask InitializeAsync()
        {
            var cancel = TestContext.Current.CancellationToken;
            var settings = new Dictionary<string, string> { ["SLUICE_ADMIN_PASSWORD"] = AdminPassword };
            _set = await MockedServer.StartAsync(new MockOptions { Spool = RealPost.Spool }, settings, cancel);
            foreach (var release in (string[])["raw-mkv", "rar4"])
                await Client.PublishedAsync(await Client.AddFileAsync("movies", release, RealPost.Read(release).Nzb, cancel), cancel);
            Http = new HttpClient { BaseAddress = new Uri($"http://127.0.0.1:{_set.Server.Port}/") };
            Http.DefaultRequestHeaders.Add("X-Csrf", "1");
            Http.DefaultRequestHeaders.Add("Origin", $"http://127.0.0.1:{_set.Server.Port}");
            using var login = new StringContent($$"""{"user":"admin","password":"{{AdminPassword}}"}""", new MediaTypeHeaderValue("application/json"));
            using var session = await Http.PostAsync(new Uri("api/session", UriKind.Relative), login, cancel);
            session.EnsureSuccessStatusCode();
            var basic = Convert.ToBase64String(Encoding.UTF8.GetBytes($"{ServerProcess.User}:{ServerProcess.Password}"));
            Http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Basic", basic);
        }

        public async ValueTask DisposeAsync()
        {
            Http?.Dispose();
            if (_set is not null)
                await _set.DisposeAsync();
        }
    }
}
