using Sluice.Testing;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Tests.Yenc;
using Sluice.Usenet.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>Files whose articles have no ranges: all are fetched for their lengths, up to the limit (IMP-35).</summary>
public sealed class CountedMapTests
{
    private const int Part = 45 * 40;

    private readonly ScriptedArticleSource _source = new(providers: 2);

    public static TheoryData<int[]> Geometries => new((IEnumerable<int[]>)(int[][])
    [
        [700],
        [Part, 700],
        [Part, Part, Part, Part, 1],
        [Part, Part, Part, Part, Part],
        [Part - 45, Part, Part, Part, 700],
        [Part, Part, Part + 45, Part, Part - 90, Part, 0],
        [.. Enumerable.Range(0, 60).Select(i => 45 * (20 + i * 7 % 13))],
        [.. Enumerable.Range(0, 20).Select(i => 1000 + i)],
    ]);

    [Theory]
    [MemberData(nameof(Geometries))]
    public async Task Uuencode_map_is_exact_for_any_part_lengths(int[] lengths)
    {
        var post = Uuencoded(lengths);

        var report = await ProbeAsync(post.Target("\"film.mkv\""));

        var file = Assert.Single(report.Files);
        Assert.Equal(SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]), file.Map);
        Assert.Equal((HeadState.Found, MediaKind.Matroska, true), (file.State, file.Kind, file.IsConfirmed));
        Assert.Equal(("film.mkv", lengths.Length, 0), (file.Header?.Name, file.AskedArticles, file.MissingArticles));
        Assert.Equal(new ArticleHabit(Carries.Never, Carries.Never, Carries.Never), file.Habit);
    }

    [Fact]
    public async Task Counting_fetches_each_article_once_and_both_ends_twice()
    {
        var post = Uuencoded([Part, Part, Part, Part, 700]);

        await ProbeAsync(post.Target("\"film.mkv\""));

        Assert.Equal(
            ["a-0@x", "a-0@x", "a-1@x", "a-2@x", "a-3@x", "a-4@x", "a-4@x"],
            _source.Requests.Where(request => !request.Id.ToString().Contains("again", StringComparison.Ordinal)).Select(request => request.Id.ToString()).Order());
        Assert.All(_source.Requests, request => Assert.Equal(OperationLane.Import, request.Lane));
    }

    [Theory]
    [InlineData(5, true)]
    [InlineData(6, false)]
    public async Task File_above_the_count_limit_is_not_fetched_between_its_ends(int parts, bool isCounted)
    {
        var post = Uuencoded([.. Enumerable.Repeat(Part, parts)]);

        var file = Assert.Single((await ProbeAsync(new ProbeOptions { MaxCounted = 5 * Part }, post.Target("\"film.mkv\""))).Files);

        Assert.Equal((isCounted, isCounted ? null : ArticleEncoding.Uuencode), (file.Map is not null, file.TooLongToCount));
        Assert.Equal(HeadState.Found, file.State);
        Assert.Equal(isCounted, _source.Requests.Any(request => request.Id.ToString() == "a-1@x"));
    }

    [Fact]
    public async Task File_outgrowing_the_limit_while_counted_is_abandoned()
    {
        var post = Uuencoded([45, Part, Part, Part, 45]);

        var file = Assert.Single((await ProbeAsync(new ProbeOptions { MaxCounted = 2 * Part }, post.Target("\"film.mkv\""))).Files);

        Assert.Equal((null, ArticleEncoding.Uuencode), (file.Map, file.TooLongToCount));
    }

    [Fact]
    public async Task File_with_more_articles_than_the_limit_is_abandoned()
    {
        var post = Uuencoded([.. Enumerable.Repeat(45, 6)]);

        var file = Assert.Single((await ProbeAsync(new ProbeOptions { MaxCountedArticles = 5 }, post.Target("\"film.mkv\""))).Files);

        Assert.Equal((null, ArticleEncoding.Uuencode), (file.Map, file.TooLongToCount));
    }

    [Fact]
    public async Task Yenc_segments_without_ranges_are_counted_too()
    {
        int[] lengths = [3000, 2999, 3000, 3001, 100];
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);
        for (var i = 0; i < lengths.Length; i++)
            _source.Post(post.IdOf(i), WithoutRange(post, i));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);
        Assert.Equal((SegmentMap.FromLengths([3000, 2999, 3000, 3001, 100]), true), (file.Map, file.IsConfirmed));
        Assert.Equal(new ArticleHabit(Carries.Yes, Carries.Never, Carries.Yes), file.Habit);

        var limited = Assert.Single((await ProbeAsync(new ProbeOptions { MaxCounted = 10_000 }, post.Target("\"film.mkv\""))).Files);
        Assert.Equal((null, ArticleEncoding.Yenc), (limited.Map, limited.TooLongToCount));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    [InlineData(4)]
    public async Task Truncated_copy_is_refetched_from_the_next_provider(int index)
    {
        int[] lengths = [Part, Part, Part, Part, 700];
        var post = Uuencoded(lengths);
        post.Replace(0, index, Wire(post, index, cut: 45 * 3));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);

        Assert.Equal(SegmentMap.Uniform(5, Part, (4 * Part) + 700), file.Map);
    }

    [Theory]
    [InlineData(new[] { Part, 700 }, 0)]
    [InlineData(new[] { Part, Part, 700 }, 0)]
    [InlineData(new[] { Part - 45, Part, Part, Part, 700 }, 0)]
    [InlineData(new[] { Part, Part, Part - 45, Part, 700 }, 2)]
    [InlineData(new[] { Part, Part, Part + 45, Part, 700 }, 2)]
    public async Task Longest_copy_wins_if_nothing_else_decides_the_length(int[] lengths, int index)
    {
        var post = Uuencoded(lengths);
        post.Replace(0, index, Wire(post, index, cut: 45 * 3));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);

        Assert.Equal(SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]), file.Map);
    }

    [Fact]
    public async Task Longest_copy_wins_among_all_three_providers()
    {
        int[] lengths = [Part, Part, Part - 45, Part, 700];
        var source = new ScriptedArticleSource(providers: 3);
        var post = Uuencoded(lengths, source);
        source.Replace(0, post.IdOf(2), Wire(post, 2, cut: 45 * 3));
        source.Replace(1, post.IdOf(2), Wire(post, 2, cut: 45));

        var report = await new ReleaseProber(source).ProbeAsync([post.Target("\"film.mkv\"")], null, TestContext.Current.CancellationToken);

        Assert.Equal(Part - 45, Assert.Single(report.Files).Map?[2].Length);
    }

    [Fact]
    public async Task Copy_with_the_same_length_everywhere_is_accepted()
    {
        var post = Uuencoded([Part, Part, Part, Part, 700]);
        foreach (var provider in new[] { 0, 1 })
            post.Replace(provider, 2, Wire(post, 2, cut: 45));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);

        Assert.Equal(SegmentMap.FromLengths([Part, Part, Part - 45, Part, 700]), file.Map);
    }

    [Fact]
    public async Task Lone_article_without_its_end_is_refetched_elsewhere()
    {
        var post = Uuencoded([700]);
        post.Replace(0, 0, Wire(post, 0, cut: 45 * 3));

        Assert.Equal(700, Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files).Map?.Length);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2)]
    [InlineData(4)]
    public async Task Damaged_copy_is_refetched_and_no_map_if_damaged_everywhere(int index)
    {
        int[] lengths = [Part, Part, Part - 45, Part, 700];
        var post = Uuencoded(lengths);
        var damaged = Wire(post, index);
        var line = damaged.AsSpan().IndexOf("\r\nM"u8) + 2;
        damaged[line + 20] = (byte)'x';
        post.Replace(0, index, damaged);

        var healed = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);
        Assert.Equal(SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]), healed.Map);

        post.Replace(1, index, damaged);
        var broken = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);
        Assert.Equal((null, 0), (broken.Map, broken.MissingArticles));
    }

    [Fact]
    public async Task Missing_article_takes_the_length_shared_by_its_siblings()
    {
        var post = Uuencoded([Part, Part, Part, Part, 700]);
        _source.Remove(post.IdOf(2));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);

        Assert.Equal((SegmentMap.Uniform(5, Part, (4 * Part) + 700), false, 0), (file.Map, file.IsConfirmed, file.MissingArticles));
    }

    [Fact]
    public async Task Missing_article_of_unknown_length_leaves_no_map()
    {
        var post = Uuencoded([Part, Part - 45, Part, Part, 700]);
        _source.Remove(post.IdOf(2));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\""))).Files);

        Assert.Equal((null, 1, 5), (file.Map, file.MissingArticles, file.AskedArticles));
    }

    private ScriptedPost Uuencoded(int[] lengths) => Uuencoded(lengths, _source);

    private static ScriptedPost Uuencoded(int[] lengths, ScriptedArticleSource source)
    {
        var post = new ScriptedPost(source, "a", ScriptedPost.Film(lengths.Sum()), lengths);
        for (var i = 0; i < lengths.Length; i++)
            source.Post(post.IdOf(i), Wire(post, i));
        return post;
    }

    /// <summary>Returns a uuencoded article; with a cut, its last bytes and everything after them are missing.</summary>
    private static byte[] Wire(ScriptedPost post, int index, int cut = 0)
    {
        var begin = post.Lengths.Take(index).Sum();
        var data = post.Content.AsSpan(begin, post.Lengths[index] - cut);
        return TestArticle.OnWire(TestArticle.UuPart(data, isFirst: index == 0, isLast: index == post.Lengths.Length - 1 && cut == 0));
    }

    private static byte[] WithoutRange(ScriptedPost post, int index)
    {
        var body = System.Text.Encoding.Latin1.GetString(post.Article(index, 0, index + 1));
        var line = body.IndexOf("=ypart", StringComparison.Ordinal);
        return TestArticle.Bytes(body[..line] + body[(body.IndexOf("\r\n", line, StringComparison.Ordinal) + 2)..]);
    }

    private Task<ProbeReport> ProbeAsync(params ProbeTarget[] targets) => ProbeAsync(new ProbeOptions(), targets);

    private Task<ProbeReport> ProbeAsync(ProbeOptions options, params ProbeTarget[] targets) =>
        new ReleaseProber(_source, options).ProbeAsync(targets, null, TestContext.Current.CancellationToken);
}
