using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>A map refuted by an article is replaced only by a map on which the articles agree (IMP-31, IMP-32).</summary>
public sealed class MapCorrectorTests
{
    private readonly ScriptedArticleSource _source = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public static TheoryData<int[]> Geometries => new((IEnumerable<int[]>)(int[][])
    [
        [3000, 2900, 3100, 3000, 100],
        [3000, 3000, 3000, 2900, 3000, 3000, 3100, 3000, 100],
        [2900, 3000, 3100, 100],
        [.. Enumerable.Range(0, 50).Select(i => i is > 10 and < 30 ? 3000 - (i % 2 == 0 ? 7 : -7) : 3000), 100],
    ]);

    [Theory]
    [MemberData(nameof(Geometries))]
    public async Task Wrong_uniform_map_is_corrected_from_any_refuting_article(int[] lengths)
    {
        var post = Post(lengths);
        var truth = MapOf(lengths);
        var believed = SegmentMap.Uniform(lengths.Length, 3000, truth.Length);
        foreach (var refuting in Enumerable.Range(0, lengths.Length).Where(i => truth[i] != believed[i]))
        {
            var map = believed;

            // Deviations that cancel out before the next known position only appear in a later article.
            for (var index = refuting; index >= 0; index = FirstDifference(map, truth))
            {
                var corrected = await Corrector().CorrectAsync(post.Ids, map, truth[index], leastLength: null, Token);
                Assert.NotNull(corrected);
                Assert.Equal(truth[index], corrected[index]);
                Assert.Equal((truth.Count, truth.Length), (corrected.Count, corrected.Length));
                map = corrected;
            }
        }
    }

    [Fact]
    public async Task Correction_fetches_few_articles_and_keeps_known_segments()
    {
        int[] lengths = [.. Enumerable.Repeat(1100, 400)];
        (lengths[20], lengths[21]) = (1000, 1200);
        (lengths[137], lengths[303]) = (1024, 1176);
        var post = Post(lengths);
        int[] known = [.. lengths];
        (known[137], known[303]) = (1100, 1100);

        var corrected = await Corrector().CorrectAsync(post.Ids, MapOf(known), MapOf(lengths)[200], leastLength: null, Token);

        Assert.Equal(MapOf(lengths), corrected);
        Assert.InRange(_source.Requests.Count, 3, 24);
        Assert.All(_source.Requests, request => Assert.Equal(OperationLane.Playback, request.Lane));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(200)]
    [InlineData(399)]
    public async Task Wrong_estimate_is_corrected_by_one_article_and_neighbors(int refuting)
    {
        int[] lengths = [.. Enumerable.Repeat(1100, 399), 77];
        var post = Post(lengths);
        var truth = MapOf(lengths);
        var estimate = SegmentMap.Uniform(400, 1099, truth.Length);

        Assert.Equal(truth, await Corrector().CorrectAsync(post.Ids, estimate, truth[refuting], leastLength: null, Token));
        Assert.InRange(_source.Requests.Count, 1, 2);
    }

    [Fact]
    public async Task Article_of_another_file_corrects_nothing()
    {
        var post = Post(3000, 3000, 3000, 3000, 3000, 100);

        Assert.Null(await Corrector().CorrectAsync(post.Ids, MapOf(post.Lengths), new Segment(3, 6000, 2000), leastLength: null, Token));
    }

    [Fact]
    public async Task Claim_without_available_neighbors_is_rejected()
    {
        var post = Post(3000, 3000, 2900, 3100, 3000, 100);
        _source.Remove(post.IdOf(1));
        _source.Remove(post.IdOf(3));

        Assert.Null(await Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 3000, 15_100), new Segment(2, 6000, 2900), leastLength: null, Token));
    }

    [Fact]
    public async Task Claim_with_one_neighbor_missing_is_accepted()
    {
        var post = Post(3000, 3000, 2900, 3100, 3000, 100);
        _source.Remove(post.IdOf(1));

        var corrected = await Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 3000, 15_100), new Segment(2, 6000, 2900), leastLength: null, Token);

        Assert.Equal(MapOf(post.Lengths), corrected);
    }

    [Theory]
    [InlineData(0, 10, 3000)]
    [InlineData(5, 15_000, 200)]
    [InlineData(2, 6000, 20_000)]
    [InlineData(2, 15_000, 3000)]
    [InlineData(2, long.MaxValue - 3000, 3000)]
    public async Task Range_changing_the_file_length_is_rejected_without_fetching(int index, long begin, int length)
    {
        var post = Post(3000, 3000, 3000, 3000, 3000, 100);

        Assert.Null(await Corrector().CorrectAsync(post.Ids, MapOf(post.Lengths), new Segment(index, begin, length), leastLength: null, Token));
        Assert.Empty(_source.Requests);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    [InlineData(4)]
    [InlineData(5)]
    public async Task Estimated_length_is_corrected_by_the_last_article(int refuting)
    {
        var post = Post(3000, 3000, 3000, 3000, 3000, 100);
        var truth = MapOf(post.Lengths);

        Assert.Equal(truth, await Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 2990, 14_990), truth[refuting], leastLength: 14_990, Token));
        Assert.Equal(truth, await Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 3100, 15_600), truth[refuting], leastLength: 15_100, Token));
    }

    [Fact]
    public async Task Last_article_is_fetched_together_with_the_neighbors()
    {
        // One byte does not contain the header, so each fetch waits for the rest of its article.
        var source = new ScriptedArticleSource(portion: 1) { HoldsAfter = 0 };
        int[] lengths = [3000, 3000, 3000, 3000, 3000, 100];
        var post = new ScriptedPost(source, "a", ScriptedPost.Film(lengths.Sum()), lengths);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(Token);

        var correction = new MapCorrector(source).CorrectAsync(post.Ids, SegmentMap.Uniform(6, 2990, 14_990), MapOf(lengths)[2], leastLength: 14_990, ending.Token);
        await Eventually.HoldsAsync(() => source.Running == 3, () => $"{source.Running} fetches run at once.", Token);

        await ending.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => correction);
    }

    [Fact]
    public async Task Estimated_length_is_corrected_for_uneven_parts()
    {
        var post = Post(3000, 2900, 3100, 3000, 2500, 100);
        var (truth, map) = (MapOf(post.Lengths), SegmentMap.Uniform(6, 3000, 15_100));

        // Deviations that cancel out only appear in a later article.
        for (var index = 5; index >= 0; index = FirstDifference(map, truth))
        {
            var corrected = await Corrector().CorrectAsync(post.Ids, map, truth[index], leastLength: 14_000, Token);
            Assert.NotNull(corrected);
            Assert.Equal((truth.Length, truth[index]), (corrected.Length, corrected[index]));
            map = corrected;
        }
    }

    [Theory]
    [InlineData(2)]
    [InlineData(5)]
    public async Task Length_below_the_slices_of_the_file_is_rejected(int refuting)
    {
        var post = Post(3000, 3000, 3000, 3000, 3000, 100);

        Assert.Null(await Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 3100, 15_600), MapOf(post.Lengths)[refuting], leastLength: 15_101, Token));
    }

    [Fact]
    public async Task Provider_fault_during_correction_is_thrown()
    {
        var post = Post(3000, 3000, 2900, 3100, 3000, 100);
        _source.Break(post.IdOf(3), NntpFault.ConnectionClosed);

        await Assert.ThrowsAsync<NntpException>(
            () => Corrector().CorrectAsync(post.Ids, SegmentMap.Uniform(6, 3000, 15_100), new Segment(2, 6000, 2900), leastLength: null, Token));
        Assert.Equal(0, _source.Running);
    }

    private static int FirstDifference(SegmentMap map, SegmentMap truth)
    {
        for (var i = 0; i < truth.Count; i++)
        {
            if (map[i] != truth[i])
                return i;
        }

        return -1;
    }

    private static SegmentMap MapOf(int[] lengths) => SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]);

    private ScriptedPost Post(params int[] lengths) => new(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);

    private MapCorrector Corrector() => new(_source);
}
