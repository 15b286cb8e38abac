using Sluice.Server.Tests.AdminApi;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Playbacks;

/// <summary>Readers that play, readers that scan, and what Sluice reads for its own pages count apart (OPS-42).</summary>
public sealed class PlaybackLaneTests
{
    private const int ArticleSize = 400_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Brief_reads_count_as_scans_once_they_are_forgotten()
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 10_000_000, articleSize: ArticleSize));
        await StreamServer.ReadAsync(server.Player("Scanner/1.0"), path, 2_000_000, 2_065_535);

        var undecided = await LanesAsync(server);
        Assert.Equal(0, undecided.Scans);
        Assert.InRange(undecided.Playback, ArticleSize, 2 * ArticleSize);

        server.Clock.Advance(TimeSpan.FromSeconds(61));
        Assert.Empty(await server.RowsAsync());
        Assert.Equal((0, undecided.Playback), ((await LanesAsync(server)).Playback, (await LanesAsync(server)).Scans));
    }

    [Theory]
    [InlineData(5_000_000, 0)]
    [InlineData(100_000, 6)]
    public async Task Four_mebibytes_or_five_seconds_count_as_playback(int bytes, int seconds)
    {
        await using var server = await StreamServer.StartAsync();
        var path = "content/" + await server.PublishAsync(MockRelease.Plain(1, 10_000_000, articleSize: ArticleSize));
        using (var answer = await StreamServer.OpenAsync(server.Player(StreamServer.Vlc), path, 0))
        {
            var body = await answer.Content.ReadAsStreamAsync(Token);
            await body.ReadExactlyAsync(new byte[bytes], Token);
            server.Clock.Advance(TimeSpan.FromSeconds(seconds));
            await server.RowAsync();
        }

        await server.QuietAsync();
        server.Clock.Advance(TimeSpan.FromSeconds(61));
        Assert.Empty(await server.RowsAsync());
        var lanes = await LanesAsync(server);
        Assert.Equal(0, lanes.Scans);
        Assert.InRange(lanes.Playback, bytes, long.MaxValue);
    }

    [Fact]
    public async Task Previews_of_tracks_count_as_other_traffic()
    {
        await using var server = await StreamServer.StartAsync();
        await server.PublishAsync(MockRelease.Plain(1, 10_000_000, articleSize: ArticleSize));
        var film = (await server.Api.GetAsync("files?q=film"))["items"]!.AsArray().Single()!["id"];
        var before = await LanesAsync(server);

        await server.Api.GetAsync($"files/{film}/tracks");

        var after = await LanesAsync(server);
        Assert.Equal((0, 0), (after.Playback, after.Scans));
        Assert.InRange(after.Other - before.Other, ArticleSize, long.MaxValue);
    }

    /// <summary>Reads the lanes once no article is on its way.</summary>
    private static async Task<(long Playback, long Scans, long Other)> LanesAsync(StreamServer server)
    {
        await server.QuietAsync();
        var lanes = (await server.Api.GetAsync("providers"))["items"]!.AsArray().Single()!["lanesTotal"]!;
        return (Of("playback"), Of("scans"), Of("other"));

        long Of(string lane) => lanes[lane]!.GetValue<long>();
    }
}
