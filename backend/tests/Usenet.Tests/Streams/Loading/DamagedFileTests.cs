using Microsoft.Extensions.Logging.Abstractions;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: cost and serving of a file after one of its articles was bad.</summary>
public sealed class DamagedFileTests
{
    private const int Parts = 10;
    private const int PartSize = 20_000;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task F18_File_with_a_corrupt_article_is_verified_first_for_a_day()
    {
        var time = new ManualTimeProvider();
        await using var film = new SteppedFilm(parts: 4, new StreamOptions { CacheBytes = 0 }, time);
        await LieAsync(film, part: 0);

        Assert.False(await FlowsEarlyAsync(film, part: 1));
        time.Advance(TimeSpan.FromHours(23));
        Assert.False(await FlowsEarlyAsync(film, part: 2));
        time.Advance(TimeSpan.FromHours(1));

        // The provider has served five articles, two of them bad, and must regain its trust by good ones.
        Assert.False(await FlowsEarlyAsync(film, part: 3));
        await ReadManyAsync(film, 2000);
        Assert.True(await FlowsEarlyAsync(film, part: 3));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task F18_Film_with_a_bad_segment_stays_readable_around_it(bool isMissing)
    {
        var source = Film();
        if (isMissing)
            source.Remove("8@film");
        else
            source.Replace(0, "8@film", Corrupt(8));
        var time = new ManualTimeProvider();
        await using var engine = new StreamEngine(source, new StreamOptions { CacheBytes = 0, AskAgainAfter = TimeSpan.Zero }, time, NullLoggerFactory.Instance);
        var file = new PostedFile(SegmentMap.Uniform(Parts, PartSize, Parts * PartSize), FixedIds.Numbered(Parts));
        for (var i = 0; i < 24; i++)
        {
            await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Playback);
            await stream.ReadExactlyAsync(new byte[8 * PartSize], Token);
            var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[1], Token));
            Assert.Equal((isMissing ? ArticleLoss.Missing : ArticleLoss.Corrupt, 8), (gone.Loss, gone.Segment));
            stream.Position = 9 * PartSize;
            await stream.ReadExactlyAsync(new byte[PartSize], Token);
            time.Advance(TimeSpan.FromHours(1));
        }
    }

    [Fact]
    public async Task F18_Bad_segments_reload_at_most_three_file_sizes_a_day()
    {
        var source = Film();
        for (var part = 0; part < Parts; part++)
            source.Replace(0, $"{part}@film", Corrupt(part));
        var time = new ManualTimeProvider();
        await using var engine = new StreamEngine(source, new StreamOptions { CacheBytes = 0, AskAgainAfter = TimeSpan.Zero }, time, NullLoggerFactory.Instance);
        var file = new PostedFile(SegmentMap.Uniform(Parts, PartSize, Parts * PartSize), FixedIds.Numbered(Parts));
        for (var hour = 0; hour < 24; hour++)
        {
            await ReadEachAsync();

            // In addition to the first fetch; encoded bytes are some three percent more than decoded ones, and a fetch is two tries.
            Assert.InRange(source.Delivered, 0, (long)(4.4 * Parts * PartSize));
            time.Advance(TimeSpan.FromHours(1));
        }

        Assert.InRange(source.Delivered, 3L * Parts * PartSize, long.MaxValue);
        var before = source.Requests.Count;
        await ReadEachAsync();
        Assert.NotEqual(before, source.Requests.Count);

        async Task ReadEachAsync()
        {
            for (var part = 0; part < Parts; part++)
            {
                await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Playback, part * PartSize, (part * PartSize) + 1000);
                var gone = await Assert.ThrowsAsync<ArticleGoneException>(async () => await stream.ReadExactlyAsync(new byte[1000], Token));
                Assert.Equal((ArticleLoss.Corrupt, part), (gone.Loss, gone.Segment));
            }
        }
    }

    private static ScriptedArticleSource Film()
    {
        var source = new ScriptedArticleSource();
        for (var part = 0; part < Parts; part++)
            source.Post($"{part}@film", Wire(part));
        return source;
    }

    private static byte[] Wire(int part) =>
        TestArticle.OnWire(TestArticle.Part(TestArticle.Noise(PartSize, part), part * PartSize, Parts * PartSize, part + 1, Parts));

    private static byte[] Corrupt(int part)
    {
        var wire = Wire(part);
        wire[^2000] ^= 1;
        return wire;
    }

    private static async Task LieAsync(SteppedFilm film, int part)
    {
        await using var stream = film.Open(part * SteppedFilm.PartSize, (part * SteppedFilm.PartSize) + 1000);
        var reading = stream.ReadExactlyAsync(new byte[1000], Token).AsTask();
        for (var tries = 0; tries < 2; tries++)
        {
            var fetch = await film.Source.NextAsync(Token);
            var body = film.Body(part).ToArray();
            body[^2000] ^= 1;
            fetch.Deliver(body);
            fetch.Finish();
        }

        await Assert.ThrowsAsync<ArticleDoubtedException>(() => reading);
    }

    /// <summary>Whether the first bytes of a part are served before its last have arrived, which a second reader shows.</summary>
    private static async Task<bool> FlowsEarlyAsync(SteppedFilm film, int part)
    {
        var (first, second) = (new byte[1000], new byte[1000]);
        await using var stream = await OpenAsync(film, part, 100_000);
        await using var other = await OpenAsync(film, part, 100_000);
        var reading = stream.ReadAsync(first, Token).AsTask();
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body(part)[..200_000]);
        var early = other.ReadAsync(second, Token);
        var isEarly = early.IsCompleted;
        fetch.Deliver(film.Body(part)[200_000..]);
        fetch.Finish();
        Assert.Equal(1000, await early);
        Assert.Equal(1000, await reading);
        return isEarly;
    }

    private static async Task<ReadOnlyStream> OpenAsync(SteppedFilm film, int part, int count)
    {
        // Without a cache, a segment is fetched again once no reader holds it.
        await Eventually.HoldsAsync(() => film.Engine.Blocks.Rented == 0, () => $"{film.Engine.Blocks.Rented} blocks", Token);
        return film.Open(part * SteppedFilm.PartSize, (part * SteppedFilm.PartSize) + count);
    }

    private static async Task ReadManyAsync(SteppedFilm film, int articles)
    {
        for (var i = 0; i < articles; i++)
            await FlowsAsync(film, part: 3);
    }

    private static async Task FlowsAsync(SteppedFilm film, int part)
    {
        await using var stream = await OpenAsync(film, part, 1);
        var reading = stream.ReadExactlyAsync(new byte[1], Token).AsTask();
        var fetch = await film.Source.NextAsync(Token);
        fetch.Deliver(film.Body(part));
        fetch.Finish();
        await reading;
    }
}
