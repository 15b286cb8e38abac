using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Loading;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>The order in which ids and providers are asked for a good copy.</summary>
public sealed class CopySearchTests
{
    private const string Miss = "";

    private static readonly MessageId Primary = MessageId.Parse("primary@x");
    private static readonly MessageId Duplicate = MessageId.Parse("duplicate@x");

    [Fact]
    public void Missing_article_is_requested_once_by_each_id()
    {
        Assert.Equal(["primary", "duplicate"], Questions(Miss, Miss));
        Assert.Equal(ArticleLoss.Missing, Lost(Miss, Miss));
    }

    [Fact]
    public void Bad_copies_are_retried_after_every_provider_was_tried() =>
        Assert.Equal(
            ["primary", "primary -0", "primary", "primary -1", "duplicate"],
            Questions("bad 0", Miss, "bad 1", Miss, Miss));

    [Fact]
    public void Providers_with_only_bad_copies_are_not_tried_a_third_time()
    {
        string[] answers = ["bad 0", "bad 1", "bad 2", "bad 1", "bad 0", "bad 2", Miss];
        Assert.Equal(["primary", "primary -0", "primary -0-1", "primary", "primary -1", "primary -0-1", "duplicate"], Questions(answers));
        Assert.Equal(ArticleLoss.Corrupt, Lost(answers));
    }

    [Fact]
    public void Duplicate_is_tried_after_an_empty_second_round() =>
        Assert.Equal(["primary", "primary -2", "primary", "duplicate"], Questions("bad 2", Miss, Miss, Miss));

    [Fact]
    public void Doubtful_copy_is_confirmed_by_another_backbone_first() =>
        Assert.Equal(
            ["primary", "primary -0-1", "primary", "primary -0", "primary -0-1", "duplicate"],
            Questions("doubtful 0", Miss, "doubtful 0", "doubtful 1", Miss, Miss));

    [Fact]
    public void Doubt_ends_with_the_search_round()
    {
        var search = new CopySearch(new SegmentIds(Primary, [Duplicate]), 3, rounds: 2);
        Assert.False(search.IsInDoubt);
        search.ReportDoubtful(0, default);
        Assert.Equal((0, true), (search.Round, search.IsInDoubt));
        search.EndRound();
        Assert.Equal((1, false), (search.Round, search.IsInDoubt));
        search.EndRound();
        Assert.Equal((0, false, Duplicate), (search.Round, search.IsInDoubt, search.Id));
    }

    [Fact]
    public void Source_ignoring_exclusions_is_not_retried_forever()
    {
        var search = new CopySearch(new SegmentIds(Primary, []), 3, rounds: 2);
        Assert.True(search.ReportBad(1));
        Assert.False(search.ReportBad(1));
        Assert.Equal(1, search.Round);
        Assert.True(search.ReportBad(1));
        Assert.False(search.ReportBad(1));
        Assert.False(search.HasNext());
    }

    [Fact]
    public void Duplicate_is_tried_after_useless_replies_from_all_providers()
    {
        var search = new CopySearch(new SegmentIds(Primary, [Duplicate]), 3, rounds: 2);
        search.ReportUseless();
        Assert.True(search.HasNext());
        Assert.Equal((Duplicate, ArticleLoss.Corrupt), (search.Id, search.Loss));
        search.EndRound();
        Assert.False(search.HasNext());
        Assert.Equal(ArticleLoss.Corrupt, search.Loss);
    }

    [Fact]
    public void Second_copy_search_tries_other_providers_only_once()
    {
        var beside = default(ProviderSet).With(1);
        var search = new CopySearch(new SegmentIds(Primary, []), 2, rounds: 1, beside);
        Assert.True(search.HasNext());
        Assert.Equal(beside, search.Excluded);
        search.ReportBad(0);
        Assert.False(search.HasNext());

        Assert.False(new CopySearch(new SegmentIds(Primary, [Duplicate]), 1, rounds: 1, default(ProviderSet).With(0)).HasNext());
    }

    [Fact]
    public void Search_without_providers_still_tries_the_source() =>
        Assert.True(new CopySearch(new SegmentIds(Primary, []), 0, rounds: 2).HasNext());

    /// <summary>Returns the requests to three providers, two of which share a store, for the given answers.</summary>
    private static List<string> Questions(params string[] answers)
    {
        var search = new CopySearch(new SegmentIds(Primary, [Duplicate]), 3, rounds: 2);
        return Ask(search, answers);
    }

    private static ArticleLoss Lost(params string[] answers)
    {
        var search = new CopySearch(new SegmentIds(Primary, [Duplicate]), 3, rounds: 2);
        Ask(search, answers);
        return search.Loss;
    }

    private static List<string> Ask(CopySearch search, string[] answers)
    {
        var asked = new List<string>();
        while (search.HasNext())
        {
            var excluded = search.Excluded;
            asked.Add($"{search.Id.ToString().Trim('<', '>').Split('@')[0]} {string.Concat(Enumerable.Range(0, 3).Where(excluded.Contains).Select(static provider => $"-{provider}"))}".TrimEnd());
            switch (answers[asked.Count - 1].Split(' '))
            {
                case ["bad", var provider]:
                    search.ReportBad(provider[0] - '0');
                    break;
                case ["doubtful", var provider]:
                    search.ReportDoubtful(provider[0] - '0', default(ProviderSet).With(0).With(1));
                    break;
                default:
                    search.EndRound();
                    break;
            }
        }

        Assert.Equal(answers.Length, asked.Count);
        return asked;
    }
}
