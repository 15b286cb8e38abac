using Sluice.Testing;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Xunit;

namespace Sluice.Usenet.Tests.Streams;

/// <summary>F18: who has lied, and for how long that counts.</summary>
public sealed class TrustLedgerTests
{
    private static readonly Guid Provider = Guid.NewGuid();

    private readonly ManualTimeProvider _time = new();
    private readonly TrustLedger _trust;

    public TrustLedgerTests() => _trust = new TrustLedger(_time);

    [Fact]
    public void F18_file_that_lies_over_and_over_takes_no_place_of_others()
    {
        Lie("other");
        for (var i = 0; i <= RememberedLie.MostFiles; i++)
            Lie("worst");

        Assert.False(_trust.IsTrusted(File("other")));
        Assert.False(_trust.IsTrusted(File("worst")));
        Assert.Equal(["other", "worst"], NewLies());
    }

    [Fact]
    public void F18_of_very_many_files_the_one_that_lied_longest_ago_is_trusted_first()
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
    public void F18_lie_counts_for_a_day_from_the_last_on()
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
    public void F18_what_an_earlier_run_stored_ends_when_it_would_have_ended_there()
    {
        Lie("new");
        _trust.Restore([new RememberedLie("old", _time.GetUtcNow() - TimeSpan.FromHours(20)), new RememberedLie("new", _time.GetUtcNow() - TimeSpan.FromHours(20))]);
        Assert.False(_trust.IsTrusted(File("old")));

        _time.Advance(TimeSpan.FromHours(4));
        Assert.True(_trust.IsTrusted(File("old")));
        Assert.False(_trust.IsTrusted(File("new")));

        // The next lie finds the one that is over in front of it.
        Lie("next");
        Assert.Equal(["new", "next"], NewLies());
    }

    private static FileOrigin File(string name) => new(name, 1);

    private IEnumerable<string> NewLies() => _trust.TakeNew().Select(lie => lie.File).Order();

    private void Lie(string file) => _trust.Judged(File(file), Provider, isCorrupt: true);
}
