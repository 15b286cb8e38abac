using System.Net;
using System.Text;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.EndToEnd;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Subtitles by the API: files next to a film whole, tracks inside it stretch by stretch.</summary>
public sealed class SubtitleResourceTests(SubtitledFilm films) : IClassFixture<SubtitledFilm>, IDisposable
{
    private const int ArticleSize = 50_000;
    private const string Lines = "1\n00:00:01,000 --> 00:00:02,000\nDéjà vu & more\n";

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Subtitle_files_of_a_release_are_listed_and_read()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var film = await PublishAsync(
            server, mock,
            ("Harbour.Lights.2019.1080p.mkv", new byte[200_000]),
            ("Harbour.Lights.2019.1080p.fr.forced.srt", Encoding.Latin1.GetBytes(Lines)),
            ("Harbour.Lights.2019.1080p.en.ass", Encoding.UTF8.GetBytes("[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\i1}Again{\\i0}\n")),
            ("Harbour.Lights.2019.1080p.nfo.srt", Encoding.UTF8.GetBytes("No subtitles at all.\n")));

        var list = await server.GetAsync($"files/{film}/subtitles");
        var items = list["items"]!.AsArray();

        Assert.Equal(
            ["ASS en False", "SubRip fr True", "SubRip  False"],
            items.Select(item => $"{item!["codec"]} {item["language"]} {item["forced"]!.GetValue<bool>()}"));
        Assert.All(items, item => Assert.Equal(("file", "text"), (item!["place"]!.ToString(), item["form"]!.ToString())));
        Assert.Equal("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nAgain\n", await TextAsync(server, $"files/{film}/subtitles/{items[0]!["id"]}"));
        Assert.Equal("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nDéjà vu &amp; more\n", await TextAsync(server, $"files/{film}/subtitles/{items[1]!["id"]}"));
        await server.SendAsync(HttpMethod.Get, $"files/{film}/subtitles/{items[2]!["id"]}", expected: HttpStatusCode.UnprocessableEntity);
        await server.SendAsync(HttpMethod.Get, $"files/{film}/subtitles/{Guid.NewGuid()}", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, $"files/{film}/subtitles/7?from=0&to=1000", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, $"files/{film}/subtitles/seven", expected: HttpStatusCode.NotFound);
        await server.SendAsync(HttpMethod.Get, $"files/{Guid.NewGuid()}/subtitles", expected: HttpStatusCode.NotFound);
    }

    [Fact]
    public async Task Subtitle_files_belong_to_their_episode()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var subtitles = Encoding.UTF8.GetBytes(Lines);
        var film = await PublishAsync(
            server, mock, ("Tide.Pool.S02E01.720p.mkv", new byte[200_000]), ("Tide.Pool.S02E02.720p.mkv", new byte[200_000]),
            ("Tide.Pool.S02E01.720p.de.srt", subtitles), ("Tide.Pool.S02E02.720p.de.srt", subtitles), ("Tide.Pool.S02E01.en.vtt", subtitles));

        Assert.Equal(
            ["de", "en"],
            (await server.ListAsync($"files/{film}/subtitles")).Select(item => item["language"]!.ToString()));
    }

    [Theory]
    [InlineData("")]
    [InlineData("?from=0")]
    [InlineData("?from=-1&to=10")]
    [InlineData("?from=10&to=10")]
    [InlineData("?from=0&to=600001")]
    [InlineData("?from=360000001&to=360000002")]
    public async Task Stretch_outside_the_limits_is_refused(string query)
    {
        await using var server = await JobServer.StartAsync(_folder);

        await server.SendAsync(HttpMethod.Get, $"files/{new BuiltInClip().File.Id}/subtitles/0{query}", expected: HttpStatusCode.BadRequest);
    }

    /// <summary>A player reads the film, and asks for the lines of what it has just loaded. Bar of the issue: 1.05 times the bytes of the film.</summary>
    [Theory]
    [InlineData("mkv", true, 0)]
    [InlineData("mkv", false, 1)]
    [InlineData("mkv", false, 2)]
    [InlineData("mp4", true, 0)]
    public async Task Subtitles_of_a_playing_film_cost_almost_no_articles(string kind, bool isIndexed, int track)
    {
        await using var mock = await MockServer.StartAsync();
        // An article that is late on a busy machine would be requested twice.
        await using var server = await JobServer.StartAsync(_folder, mock, variables: ("SLUICE_CONFIG__USENET__HEDGE__ENABLED", "false"));
        var bytes = await FilmAsync(kind, isIndexed);
        var film = await PublishAsync(server, mock, ($"Harbour.Lights.2019.{kind}", bytes));
        var link = new Uri((await server.GetAsync($"files/{film}"))["links"]!["signed"]!.ToString());
        var articles = (bytes.Length + ArticleSize - 1) / ArticleSize;
        mock.Reset();

        var lines = new List<string>();
        using var player = new HttpClient();
        using var answer = await player.GetAsync(link, HttpCompletionOption.ResponseHeadersRead, Token);
        await using var body = await answer.Content.ReadAsStreamAsync(Token);
        const int step = 10;
        for (var second = 0; second < SubtitledFilm.Seconds; second += step)
        {
            // The rate is even, so the bytes of these seconds are in memory now.
            await body.ReadExactlyAsync(new byte[Math.Min(bytes.Length * (long)step / SubtitledFilm.Seconds, bytes.Length - bytes.Length * (long)second / SubtitledFilm.Seconds)], Token);
            var part = await server.GetAsync($"files/{film}/subtitles/{track}?from={second * 1000}&to={(second + step) * 1000}");
            Assert.Equal(("known", (second + step) * 1000L), (part["state"]!.ToString(), part["toMs"]!.GetValue<long>()));
            lines.AddRange(part["items"]!.AsArray().Select(line => line!["text"]!.ToString()));
        }

        await body.CopyToAsync(Stream.Null, Token);
        Assert.Equal(SubtitledFilm.TextOf(0, long.MaxValue).Select(text => text.Replace("&", "&amp;", StringComparison.Ordinal)), lines.Distinct());
        Assert.InRange(mock.Stats.CommandCount("BODY") + mock.Stats.CommandCount("ARTICLE"), 1, articles * 105 / 100);
    }

    [Fact]
    public async Task Gap_is_reported_and_other_stretches_are_read()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var bytes = await FilmAsync("mkv", isIndexed: true);
        var film = await PublishAsync(server, mock, ("Harbour.Lights.2019.mkv", bytes));
        Assert.Equal("known", (await server.GetAsync($"files/{film}/subtitles/0?from=0&to=5000"))["state"]!.ToString());
        // The end has the index, which is in memory. Everything else is gone now.
        mock.ChangeMissing(ArticleSelection.All);

        var gap = await server.GetAsync($"files/{film}/subtitles/0?from=60000&to=70000");

        Assert.Equal(("gap", 0), (gap["state"]!.ToString(), gap["items"]!.AsArray().Count));
        Assert.Equal("These minutes of the film are missing at every provider.", gap["sentence"]!.ToString());
        mock.ChangeMissing(ArticleSelection.None);
        Assert.Equal("known", (await server.GetAsync($"files/{film}/subtitles/0?from=90000&to=100000"))["state"]!.ToString());
    }

    [Fact]
    public async Task Damaged_articles_give_no_lines()
    {
        await using var mock = await MockServer.StartAsync();
        await using var server = await JobServer.StartAsync(_folder, mock);
        var film = await PublishAsync(server, mock, ("Harbour.Lights.2019.mkv", await FilmAsync("mkv", isIndexed: false)));
        Assert.Equal("known", (await server.GetAsync($"files/{film}/subtitles/0?from=0&to=5000"))["state"]!.ToString());
        mock.ChangeCorrupt(ArticleSelection.All);

        var part = await server.GetAsync($"files/{film}/subtitles/0?from=60000&to=70000");

        Assert.Contains(part["state"]!.ToString(), new[] { "gap", "unreadable" });
        Assert.Empty(part["items"]!.AsArray());
    }

    private Task<byte[]> FilmAsync(string kind, bool isIndexed) => kind == "mp4" ? films.Mp4Async(Token) : MatroskaAsync(isIndexed);

    private async Task<byte[]> MatroskaAsync(bool isIndexed)
    {
        var film = await films.MatroskaAsync(Token);
        return isIndexed ? film : SubtitledFilm.WithoutSubtitlesInIndex(film);
    }

    /// <summary>Imports files as one release. Returns the id of its first file.</summary>
    private static async Task<string> PublishAsync(JobServer server, MockServer mock, params (string Name, byte[] Bytes)[] files)
    {
        var release = new MockRelease(
            "subtitles", 33,
            [.. files.Select(file => new MockFile { Name = file.Name, Size = file.Bytes.Length, ArticleSize = ArticleSize, Content = MediaContent.FromBytes(file.Name, file.Bytes) })]);
        mock.Post(release);
        await server.WaitForHistoryAsync((await server.UploadAsync(release.ToNzb(), "Harbour.Lights.2019.nzb"))["ids"]![0]!.GetValue<string>());
        var rows = await server.ListAsync("files?path=uncategorized/Harbour.Lights.2019");
        return rows.Single(row => row["name"]!.ToString() == files[0].Name)["id"]!.ToString();
    }

    private static async Task<string> TextAsync(JobServer server, string path)
    {
        using var answer = await server.Client.GetAsync(new Uri($"api/{path}", UriKind.Relative), Token);
        Assert.Equal((HttpStatusCode.OK, "text/vtt"), (answer.StatusCode, answer.Content.Headers.ContentType?.MediaType));
        return await answer.Content.ReadAsStringAsync(Token);
    }
}
