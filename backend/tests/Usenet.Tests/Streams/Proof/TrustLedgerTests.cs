using Sluice.Testing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: trust permits serving bytes before their article is verified. It ends with the first false article, for a limited time.</summary>
public sealed class TrustLedgerTests
{
    private static readonly Guid Provider = Guid.NewGuid();

    private readonly ManualTimeProvider _time = new();
    private readonly TrustLedger _trust;

    public TrustLedgerTests() => _trust = new TrustLedger(_time);

    [Fact]
    public void F18_Repeated_corruption_of_one_file_evicts_no_other_file()
    {
        Lie("other");
        for (var i = 0; i <= RememberedLie.MostFiles; i++)
            Lie("worst");

        Assert.False(_trust.IsTrusted(File("other")));
        Assert.False(_trust.IsTrusted(File("worst")));
        Assert.Equal(["other", "worst"], NewLies());
    }

    [Fact]
    public void F18_Full_ledger_forgets_the_oldest_distrust_first()
    {
        Lie("a");
        Lie("b");
        Lie("a");
        for (var i = 2; i <= RememberedLie.MostFiles; i++)
            Lie($"file {i}");

        Assert.True(_trust.IsTrusted(File("b")));
        Assert.False(_trust.IsTrusted(File("a")));
    }

    [Fact]
    public void F18_Distrust_lasts_a_day_from_the_last_corrupt_article()
    {
        Lie("film");
        _time.Advance(RememberedLie.Counts - TimeSpan.FromSeconds(1));
        Lie("film");
        _time.Advance(RememberedLie.Counts - TimeSpan.FromSeconds(1));
        Assert.False(_trust.IsTrusted(File("film")));

        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.True(_trust.IsTrusted(File("film")));
    }

    [Fact]
    public void F18_Restored_distrust_ends_at_its_original_deadline()
    {
        Lie("new");
        _trust.Restore([new RememberedLie("old", _time.GetUtcNow() - TimeSpan.FromHours(20)), new RememberedLie("new", _time.GetUtcNow() - TimeSpan.FromHours(20))]);
        Assert.False(_trust.IsTrusted(File("old")));

        _time.Advance(TimeSpan.FromHours(4));
        Assert.True(_trust.IsTrusted(File("old")));
        Assert.False(_trust.IsTrusted(File("new")));

        // The next report comes after one that has expired.
        Lie("next");
        Assert.Equal(["new", "next"], NewLies());
    }

    [Fact]
    public void F18_File_with_a_corrupt_article_is_not_trusted_for_a_day()
    {
        Assert.True(_trust.MayLeaveEarly(File("a"), new StreamOptions()));
        _trust.Judged(File("a"), Account(0), isCorrupt: true);
        Assert.False(_trust.MayLeaveEarly(File("a"), new StreamOptions()));
        Assert.True(_trust.MayLeaveEarly(File("b"), new StreamOptions()));
        _time.Advance(TimeSpan.FromHours(23));
        _trust.Judged(File("b"), Account(1), isCorrupt: true);
        Assert.False(_trust.MayLeaveEarly(File("a"), new StreamOptions()));
        _time.Advance(TimeSpan.FromHours(1));
        Assert.True(_trust.MayLeaveEarly(File("a"), new StreamOptions()));
        Assert.False(_trust.MayLeaveEarly(File("b"), new StreamOptions()));
    }

    [Fact]
    public void F18_Each_corrupt_article_restarts_the_day_of_distrust()
    {
        _trust.Judged(File("a"), Account(0), isCorrupt: true);
        _time.Advance(TimeSpan.FromHours(20));
        _trust.Judged(File("a"), Account(0), isCorrupt: true);
        _time.Advance(TimeSpan.FromHours(20));
        _trust.Judged(File("b"), Account(0), isCorrupt: true);
        Assert.False(_trust.MayLeaveEarly(File("a"), new StreamOptions()));
    }

    [Fact]
    public void F18_Provider_above_one_corrupt_in_1000_is_not_trusted()
    {
        Judge(0, 4_990, corrupt: 0);
        Judge(0, 10, corrupt: 5);
        Assert.True(_trust.IsTrusted(Account(0)));
        Judge(0, 1, corrupt: 1);
        Assert.False(_trust.IsTrusted(Account(0)));
        Assert.True(_trust.IsTrusted(Account(1)));

        // Six false articles are one in a thousand of 6,000; they no longer count after 10,000 further articles.
        Judge(0, 998, corrupt: 0);
        Assert.False(_trust.IsTrusted(Account(0)));
        Judge(0, 1, corrupt: 0);
        Assert.True(_trust.IsTrusted(Account(0)));
        Judge(0, 10, corrupt: 5);
        Assert.False(_trust.IsTrusted(Account(0)));
        Judge(0, 10_000, corrupt: 0);
        Assert.True(_trust.IsTrusted(Account(0)));
    }

    [Fact]
    public void F18_New_provider_loses_trust_after_an_early_corrupt_article()
    {
        Judge(3, 10, corrupt: 1);
        Assert.False(_trust.IsTrusted(Account(3)));
        Judge(3, 990, corrupt: 0);
        Assert.True(_trust.IsTrusted(Account(3)));
    }

    [Fact]
    public void F18_Verify_before_serve_trusts_nothing() =>
        Assert.Equal(
            (true, false),
            (_trust.MayLeaveEarly(File("a"), new StreamOptions()), _trust.MayLeaveEarly(File("a"), new StreamOptions { VerifyBeforeServe = true })));

    [Fact]
    public void F18_Distrusted_files_are_remembered_up_to_a_limit()
    {
        for (var i = 0; i <= 10_000; i++)
            _trust.Judged(File(i), Account(0), isCorrupt: true);
        Assert.True(_trust.MayLeaveEarly(File(0), new StreamOptions()));
        Assert.False(_trust.MayLeaveEarly(File(1), new StreamOptions()));
    }

    [Fact]
    public void F18_Distrust_is_saved_once_and_restored_with_its_time_left()
    {
        _trust.Judged(File("a"), Guid.Empty, isCorrupt: true);
        _trust.Judged(File(new object()), Guid.Empty, isCorrupt: true);
        _time.Advance(TimeSpan.FromHours(1));
        _trust.Judged(File("a"), Guid.Empty, isCorrupt: true);
        _trust.Judged(File("b"), Guid.Empty, isCorrupt: true);
        _time.Advance(TimeSpan.FromHours(2));
        var taken = _trust.TakeNew();
        Assert.Equal([("a", 2.0), ("b", 2.0)], taken.Select(lie => (lie.File, (_time.GetUtcNow() - lie.At).TotalHours)).Order());
        Assert.Empty(_trust.TakeNew());

        var next = new TrustLedger(_time);
        next.Restore(taken);
        Assert.Empty(next.TakeNew());
        _time.Advance(TimeSpan.FromHours(21));
        Assert.False(next.IsTrusted(File("a")));
        _time.Advance(TimeSpan.FromHours(1));
        Assert.True(next.IsTrusted(File("a")));
    }

    [Fact]
    public void F18_Restore_caps_future_distrust_and_drops_expired_entries()
    {
        _trust.Judged(File("known"), Guid.Empty, isCorrupt: true);
        var now = _time.GetUtcNow();
        _trust.Restore([new("future", now.AddYears(2)), new("old", now.AddHours(-24)), new("known", now.AddHours(-23))]);
        Assert.False(_trust.IsTrusted(File("future")));
        Assert.True(_trust.IsTrusted(File("old")));
        Assert.Equal([new("future", now), new("known", now)], _trust.TakeNew().OrderBy(lie => lie.File));
        _time.Advance(TimeSpan.FromHours(23));
        Assert.False(_trust.IsTrusted(File("future")));
        Assert.False(_trust.IsTrusted(File("known")));
        _time.Advance(TimeSpan.FromHours(1));
        Assert.True(_trust.IsTrusted(File("future")));
    }

    private static FileOrigin File(object identity) => new(identity, 1_000);

    private IEnumerable<string> NewLies() => _trust.TakeNew().Select(lie => lie.File).Order();

    private void Lie(string file) => _trust.Judged(File(file), Provider, isCorrupt: true);

    private void Judge(int provider, int articles, int corrupt)
    {
        for (var i = 0; i < articles; i++)
            _trust.Judged(File("x"), Account(provider), isCorrupt: i < corrupt);
    }

    private static Guid Account(int provider) => new(provider, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);
}
