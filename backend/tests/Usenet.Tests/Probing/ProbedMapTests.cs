using Sluice.Testing;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>Geometry with unequal parts, and files that are listed in pieces.</summary>
public sealed class ProbedMapTests
{
    private readonly ScriptedArticleSource _source = new();

    public static TheoryData<int[]> Geometries => new((IEnumerable<int[]>)(int[][])
    [
        [3000, 2000],
        [3000, 3000, 3001, 3000, 100],
        [3000, 2999, 3000, 3000, 3000, 3000, 3000, 3000, 100],
        [3000, 3000, 3000, 3000, 3000, 3000, 3000, 2000, 100],
        [1500, 3000, 3000, 3000, 3000, 3000, 3000, 3000, 100],
        [.. Enumerable.Range(0, 60).Select(i => 1100 + i * 7 % 13)],
        [.. Enumerable.Range(0, 40).Select(i => i < 20 ? 2000 : 1500)],
    ]);

    [Theory]
    [MemberData(nameof(Geometries))]
    public async Task Deviating_parts_are_found_by_bisecting(int[] lengths)
    {
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);

        var report = await ProbeAsync(post.Target("\"film.mkv\""));

        Assert.Equal(SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]), report.Files[0].Map);
        Assert.True(report.Files[0].IsConfirmed);
        Assert.InRange(report.HeadsAsked, 2, lengths.Length);
    }

    [Fact]
    public async Task Empty_posted_part_takes_no_bytes()
    {
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(9100), 3000, 3000, 0, 3000, 100);

        var file = (await ProbeAsync(post.Target("\"film.mkv\""))).Files[0];

        Assert.Equal(SegmentMap.FromLengths([3000, 3000, 0, 3000, 100]), file.Map);
    }

    [Fact]
    public async Task One_deviation_among_many_costs_logarithmic_fetches()
    {
        int[] lengths = [.. Enumerable.Repeat(1100, 200)];
        lengths[137] = 1024;
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);

        var report = await ProbeAsync(post.Target("\"film.mkv\""));

        Assert.Equal(lengths.Sum(), report.Files[0].Map?.Length);
        Assert.Equal(1024, report.Files[0].Map?[137].Length);
        Assert.InRange(report.HeadsAsked, 3, 2 + 9);
    }

    [Fact]
    public async Task Missing_deviating_article_leaves_the_map_exact()
    {
        int[] lengths = [.. Enumerable.Repeat(1100, 20)];
        lengths[10] = 1024;
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);
        _source.Remove(post.IdOf(10));

        var file = (await ProbeAsync(post.Target("\"film.mkv\""))).Files[0];

        Assert.Equal(SegmentMap.FromLengths([.. lengths.Select(length => (long)length)]), file.Map);
    }

    [Fact]
    public async Task Article_contradicting_neighbors_leaves_the_map_unconfirmed()
    {
        var post = ScriptedPost.Uniform(_source, "a", 9, 2000, 2000);
        for (var i = 5; i < 9; i++)
            _source.Post(post.IdOf(i), post.Article(i, begin: i * 2000 + 5000, part: i + 1));

        var file = (await ProbeAsync(post.Target("\"film.mkv\""))).Files[0];

        Assert.False(file.IsConfirmed);
        Assert.Equal(new Segment(5, 10_000, 7000), file.Map?[5]);
    }

    [Fact]
    public async Task Irregular_geometry_is_abandoned_at_the_bisection_limit()
    {
        int[] lengths = [.. Enumerable.Range(0, 60).Select(i => 1100 + i * 7 % 13)];
        var post = new ScriptedPost(_source, "a", ScriptedPost.Film(lengths.Sum()), lengths);

        var prober = new ReleaseProber(_source, new ProbeOptions { MaxBisected = 10 });
        var report = await prober.ProbeAsync([post.Target("\"film.mkv\"")], null, TestContext.Current.CancellationToken);

        Assert.Null(report.Files[0].Map);
        Assert.InRange(report.HeadsAsked, 2, 12);
    }

    [Fact]
    public async Task Single_segment_files_are_joined_in_range_order()
    {
        var post = ScriptedPost.Uniform(_source, "a", 30, 2000, 700);
        var other = ScriptedPost.Uniform(_source, "b", 1, 0, 1200);
        int[] order = [.. Enumerable.Range(0, 30)];
        new Random(2).Shuffle(order);

        var report = await ProbeAsync([other.Target("\"b.mkv\""), .. order.Select(index => Piece(post, index))]);

        Assert.Equal(2, report.Files.Count);
        var file = report.Files[1];
        Assert.Equal(SegmentMap.Uniform(30, 2000, 58_700), file.Map);
        Assert.True(file.IsConfirmed);
        Assert.Equal(31, report.HeadsAsked);
        for (var i = 0; i < 30; i++)
        {
            Assert.Equal(i, order[file.Members[i] - 1]);
            Assert.Equal(post.IdOf(i), (await file.Ids.GetAsync(i, TestContext.Current.CancellationToken)).Primary.ToString());
        }
    }

    [Fact]
    public async Task Missing_piece_is_a_hole_in_the_joined_file()
    {
        var post = ScriptedPost.Uniform(_source, "a", 10, 2000, 700);
        _source.Remove(post.IdOf(4));
        _source.Remove(post.IdOf(5));

        var report = await ProbeAsync([.. Enumerable.Range(0, 10).Select(index => Piece(post, index))]);

        var file = report.Files[0];
        Assert.Equal([0, 1, 2, 3, -1, -1, 6, 7, 8, 9], file.Members);
        Assert.Equal((18_700L, false), (file.Map?.Length, file.IsConfirmed));
        Assert.True((await file.Ids.GetAsync(4, TestContext.Current.CancellationToken)).Primary.IsEmpty);
        Assert.Equal(10, file.ToPostedFile()?.Ids.Count);
        Assert.Equal([HeadState.Found, HeadState.Missing, HeadState.Missing], report.Files.Select(head => head.State));
    }

    [Theory]
    [InlineData(10_700, new[] { 0, 1, 2, 3, -1, -1 }, 10_700)]
    [InlineData(99_999, new[] { 0, 1, 2, 3 }, 8000)]
    public async Task Unlisted_last_pieces_are_holes_if_size_and_total_claim_them(int claimed, int[] members, int length)
    {
        var post = ScriptedPost.Uniform(_source, "a", 6, 2000, 700);
        for (var i = 0; i < 4; i++)
            _source.Post(post.IdOf(i), post.Article(i, i * 2000, i + 1, fileSize: claimed));

        var file = Assert.Single((await ProbeAsync([.. Enumerable.Range(0, 4).Select(index => Piece(post, index))])).Files);

        Assert.Equal(members, file.Members);
        Assert.Equal(SegmentMap.Uniform(members.Length, 2000, length), file.Map);
        Assert.False(file.IsConfirmed);
    }

    [Fact]
    public async Task Million_missing_articles_share_their_bytes_evenly()
    {
        const int Count = 1_000_000;
        const long Begin = 900_000L * SegmentMap.MaxSegmentLength;
        var post = ScriptedPost.Uniform(_source, "a", 2, 1000, 1000);
        _source.Post(post.IdOf(1), post.Article(1, Begin, Count, fileSize: Begin + 1000));

        var file = Assert.Single((await ProbeAsync(post.Target("\"film.mkv\"") with { Ids = new Ends(post.Ids, Count) })).Files);

        Assert.Equal((Begin + 1000, false), (file.Map?.Length, file.IsConfirmed));
        Assert.InRange(file.Map![Count / 2].Length, (Begin - 1000) / (Count - 2), (Begin - 1000) / (Count - 2) + 1);
    }

    [Fact]
    public async Task Pieces_above_the_limit_or_without_a_first_are_not_joined()
    {
        var post = ScriptedPost.Uniform(_source, "a", 6, 2000, 700);
        ProbeTarget[] pieces = [.. Enumerable.Range(0, 6).Select(index => Piece(post, index))];

        var limited = await new ReleaseProber(_source, new ProbeOptions { MaxJoined = 5 }).ProbeAsync(pieces, null, TestContext.Current.CancellationToken);
        var headless = await ProbeAsync(pieces[1..]);

        Assert.Equal(6, limited.Files.Count);
        Assert.Equal(5, headless.Files.Count);
        Assert.All(headless.Files, file => Assert.Null(file.Map));
    }

    private static ProbeTarget Piece(ScriptedPost post, int index) =>
        post.Target("\"film.mkv\" (1/1)") with { Ids = new Slice(post.Ids, index) };

    private Task<ProbeReport> ProbeAsync(params ProbeTarget[] targets) =>
        new ReleaseProber(_source).ProbeAsync(targets, null, TestContext.Current.CancellationToken);

    /// <summary>A long file with only the first and the last article posted.</summary>
    private sealed class Ends(Usenet.Nzb.ISegmentIds two, int count) : Usenet.Nzb.ISegmentIds
    {
        public int Count => count;

        public ValueTask<Usenet.Nzb.SegmentIds> GetAsync(int index, CancellationToken cancellationToken) =>
            index == 0 || index == count - 1 ? two.GetAsync(Math.Min(index, 1), cancellationToken) : new(Usenet.Nzb.SegmentIds.None);
    }

    private sealed class Slice(Usenet.Nzb.ISegmentIds ids, int first) : Usenet.Nzb.ISegmentIds
    {
        public int Count => 1;

        public ValueTask<Usenet.Nzb.SegmentIds> GetAsync(int index, CancellationToken cancellationToken) => ids.GetAsync(first, cancellationToken);
    }
}
