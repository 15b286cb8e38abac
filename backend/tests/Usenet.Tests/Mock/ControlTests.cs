using System.Net;
using System.Text.Json;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Usenet.Tests.Mock;

public sealed class ControlTests
{
    private static readonly string Id = MockRelease.Plain(1, 1000).MessageId(0, 1);

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Statistics_are_json_and_can_be_reset()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0, Missing = Tools.MockNntpServer.Faults.ArticleSelection.Article("x@y") });
        using var http = Http(mock);
        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.ReadBodyAsync(Id);

        using var json = JsonDocument.Parse(await http.GetStringAsync("/stats", Cancelled));
        var root = json.RootElement;
        Assert.Equal(1, root.GetProperty("connections").GetProperty("now").GetInt32());
        Assert.Equal(1, root.GetProperty("connections").GetProperty("peak").GetInt32());
        Assert.Equal(1, root.GetProperty("connections").GetProperty("opened").GetInt32());
        Assert.Equal(0, root.GetProperty("connections").GetProperty("refused").GetInt32());
        Assert.False(root.GetProperty("connections").GetProperty("unaccepted").GetBoolean());
        Assert.Equal(1, root.GetProperty("commands").GetProperty("BODY").GetInt32());
        Assert.Equal(1, root.GetProperty("articles").GetInt32());
        Assert.Equal(mock.Stats.Bytes, root.GetProperty("bytes").GetInt64());
        Assert.Equal(1, root.GetProperty("deepest_pipeline").GetInt32());
        Assert.Equal(0, root.GetProperty("cancelled_bodies").GetInt32());
        Assert.Empty(root.GetProperty("faults").EnumerateObject());
        Assert.Equal(1, root.GetProperty("providers")[0].GetProperty("commands").GetProperty("BODY").GetInt32());

        Assert.Equal(HttpStatusCode.NoContent, (await http.PostAsync("/reset", null, Cancelled)).StatusCode);
        Assert.Equal((0, 1), (mock.Stats.Articles, mock.Stats.ConnectionsNow));
    }

    [Fact]
    public async Task Release_request_preencodes_articles_and_returns_the_NZB()
    {
        static MockRelease Make(ulong seed) => MockRelease.Plain(seed, 300_000, files: 2, articleSize: 40_000);
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0, Release = Make });
        using var http = Http(mock);
        foreach (var seed in new ulong[] { 4, 5 })
        {
            using var answer = await http.PostAsync($"/release?seed={seed}", null, Cancelled);
            Assert.Equal(Make(seed).ToNzb(), await answer.Content.ReadAsByteArrayAsync(Cancelled));
        }

        Assert.Equal(Make(5).ArticleCount, mock.EncodedArticles);
        await using var client = await RawClient.OpenAsync(mock.Port);
        foreach (var id in Make(5).MessageIds(1))
            await client.ReadBodyAsync(id);
        Assert.Equal(Make(5).ArticleCount, mock.EncodedArticles);
        await client.ReadBodyAsync(Make(4).MessageId(0, 1));
        Assert.Equal(Make(5).ArticleCount + 1, mock.EncodedArticles);
    }

    [Theory]
    [InlineData("/release")]
    [InlineData("/release?seed=x")]
    [InlineData("/release?seed=1")]
    public async Task Invalid_release_request_is_refused(string target)
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0 });
        using var http = Http(mock);
        Assert.Equal(HttpStatusCode.BadRequest, (await http.PostAsync(target, null, Cancelled)).StatusCode);
    }

    [Fact]
    public async Task Release_above_the_cache_size_is_not_preencoded()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { CacheBytes = 250_000 });
        var release = MockRelease.Plain(4, 300_000, articleSize: 40_000);
        Assert.Equal(release.ToNzb(), await mock.PrepareAsync(release, Cancelled));
        Assert.Equal(0, mock.EncodedArticles);
    }

    [Fact]
    public async Task Drop_closes_open_connections_and_serves_new_ones()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0 });
        using var http = Http(mock);
        await using var idle = await RawClient.OpenAsync(mock.Port);
        Assert.Equal(HttpStatusCode.NoContent, (await http.PostAsync("/drop", null, Cancelled)).StatusCode);
        Assert.Equal(0, mock.Stats.ConnectionsNow);
        Assert.Equal((0, false), ((await idle.ReadToEndAsync()).Bytes.Length, (await idle.ReadToEndAsync()).Reset));

        await using var client = await RawClient.OpenAsync(mock.Port);
        await client.ReadBodyAsync(Id);
        using var json = JsonDocument.Parse(await http.GetStringAsync("/stats", Cancelled));
        Assert.Equal(0, json.RootElement.GetProperty("waiting").GetInt32());
        Assert.Equal(1, json.RootElement.GetProperty("bodies_by_file").GetProperty("0").GetInt32());
    }

    [Fact]
    public async Task Settings_and_faults_change_while_running()
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0, Providers = [new(), new()] });
        using var http = Http(mock);
        await using var client = await RawClient.OpenAsync(mock.Ports[1]);

        Assert.Equal(HttpStatusCode.NoContent, (await http.PostAsync("/set?latency=150&jitter=2.5&missing=1.0&provider=0&max-conns=3", null, Cancelled)).StatusCode);
        Assert.Equal((TimeSpan.FromMilliseconds(150), TimeSpan.FromMilliseconds(2.5), 3), (mock.Providers[0].Latency, mock.Providers[0].Jitter, mock.Providers[0].MaxConnections));
        Assert.Equal(TimeSpan.Zero, mock.Providers[1].Latency);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);

        Assert.Equal(HttpStatusCode.NoContent, (await http.PostAsync("/set?missing=100%25", null, Cancelled)).StatusCode);
        Assert.StartsWith("430 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);
        await http.PostAsync("/set?missing=0", null, Cancelled);
        Assert.StartsWith("223 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);

        using var script = new StringContent("{\"kind\":\"command.503\",\"provider\":1}");
        Assert.Equal(HttpStatusCode.NoContent, (await http.PostAsync("/faults", script, Cancelled)).StatusCode);
        Assert.StartsWith("503 ", await client.AskAsync($"STAT <{Id}>"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("/set?latency=fast")]
    [InlineData("/set?jitter=1&coverage=1.5")]
    [InlineData("/set?colour=red")]
    [InlineData("/set?latency=1&provider=7")]
    public async Task Invalid_changes_are_refused_and_change_nothing(string target)
    {
        await using var mock = await MockServer.StartAsync(new MockOptions { ControlPort = 0 });
        var before = mock.Providers[0];
        using var http = Http(mock);
        var answer = await http.PostAsync(target, null, Cancelled);
        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.Equal(before, mock.Providers[0]);
        Assert.Equal(HttpStatusCode.NotFound, (await http.GetAsync("/", Cancelled)).StatusCode);
    }

    private static HttpClient Http(MockServer mock) => new() { BaseAddress = new Uri($"http://127.0.0.1:{mock.ControlPort}") };
}
