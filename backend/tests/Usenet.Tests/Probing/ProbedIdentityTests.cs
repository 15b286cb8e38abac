using Sluice.Testing;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Tests.Yenc;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>Bad copies, foreign articles and false headers: which are accepted, and how often each is requested.</summary>
public sealed class ProbedIdentityTests
{
    private readonly ScriptedArticleSource _source = new(providers: 2);
    private readonly ScriptedPost _post;

    public ProbedIdentityTests() => _post = ScriptedPost.Uniform(_source, "a", 4, 3000, 1000);

    public static TheoryData<string> BadBodies =>
    [
        "This article was removed after a complaint.\r\n",
        "",
        "=ybegin part=1 total=4 line=128 size=10000 name=film.mkv\r\n=ypart begin=1 end=99999999999\r\nabc\r\n",
        "=ybegin part=1 total=4 line=128 size=10000 name=film.mkv\r\n=ypart begin=3001 end=6000\r\nabc\r\n",
        "=ybegin part=2 total=4 line=128 size=10000 name=film.mkv\r\n=ypart begin=1 end=3000\r\nabc\r\n",
        "=ybegin line=128 size=10000 name=film.mkv\r\nabc\r\n",
    ];

    [Theory]
    [MemberData(nameof(BadBodies))]
    public async Task Bad_head_at_one_provider_is_refetched_from_the_next(string body)
    {
        _post.Replace(0, 0, TestArticle.OnWire(body));

        var report = await ProbeAsync();

        Assert.Equal((HeadState.Found, true, 10_000L), (report.Files[0].State, report.Files[0].IsConfirmed, report.Files[0].Map?.Length));
        Assert.Equal((1, 3), (report.Corrupt, report.Fetches));
    }

    [Theory]
    [MemberData(nameof(BadBodies))]
    public async Task Bad_head_everywhere_is_corrupt_after_two_tries_per_provider(string body)
    {
        _post.Replace(0, 0, TestArticle.OnWire(body));
        _post.Replace(1, 0, TestArticle.OnWire(body));

        var report = await ProbeAsync();

        Assert.Equal((HeadState.Corrupt, null), (report.Files[0].State, report.Files[0].Map));
        Assert.Equal((4, 0), (report.Corrupt, report.Misses));
        Assert.Equal(4, _source.Requests.Count(request => request.Id.ToString() == "a-0@x"));
    }

    [Fact]
    public async Task Bad_head_missing_elsewhere_is_corrupt_not_missing()
    {
        _post.Replace(0, 0, TestArticle.OnWire("text\r\n"));
        _post.Replace(1, 0, null);

        var report = await ProbeAsync();

        Assert.Equal(HeadState.Corrupt, report.Files[0].State);
        Assert.Equal((2, 0), (report.Corrupt, report.Misses));
    }

    [Theory]
    [InlineData(1L, 4, 3)]
    [InlineData(999_999_999L, 4, 3)]
    [InlineData(10_000L, 1, 2)]
    [InlineData(10_000L, 99_999, 2)]
    public async Task Wrong_size_or_total_rejects_no_article(long size, int total, int fetches)
    {
        for (var i = 0; i < 4; i++)
            _source.Post(_post.IdOf(i), _post.Article(i, i * 3000, i + 1, size, total));

        var report = await ProbeAsync();

        Assert.Equal((true, 10_000L), (report.Files[0].IsConfirmed, report.Files[0].Map?.Length));
        Assert.Equal(fetches, report.Fetches);
    }

    [Fact]
    public async Task Impossible_last_range_is_refetched_from_the_next_provider()
    {
        _post.Replace(0, 3, _post.Article(3, begin: 2000, part: 4));

        var report = await ProbeAsync();

        Assert.Equal((true, 10_000L), (report.Files[0].IsConfirmed, report.Files[0].Map?.Length));
        Assert.Equal(1, report.Corrupt);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(3)]
    public async Task Range_longer_than_its_data_is_rejected(int index)
    {
        var honest = _post.Article(index, index * 3000, index + 1);
        var end = index == 0 ? "end=3000" : "end=10000";
        var lie = index == 0 ? "end=3001" : "end=10001";
        _post.Replace(0, index, TestArticle.Bytes(System.Text.Encoding.Latin1.GetString(honest).Replace(end, lie, StringComparison.Ordinal)));

        var report = await ProbeAsync();

        Assert.Equal((true, 10_000L), (report.Files[0].IsConfirmed, report.Files[0].Map?.Length));
        Assert.Equal(1, report.Corrupt);
    }

    [Fact]
    public async Task Wrong_last_article_at_all_providers_leaves_claim_unconfirmed()
    {
        _source.Post(_post.IdOf(3), _post.Article(3, begin: 2000, part: 4));

        var report = await ProbeAsync();

        Assert.Equal((false, 10_000L), (report.Files[0].IsConfirmed, report.Files[0].Map?.Length));
    }

    private Task<ProbeReport> ProbeAsync() =>
        new ReleaseProber(_source).ProbeAsync([_post.Target("\"film.mkv\" (1/4)")], null, TestContext.Current.CancellationToken);
}
