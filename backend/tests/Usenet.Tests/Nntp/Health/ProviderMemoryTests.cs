using Sluice.Testing;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nzb;
using Xunit;

namespace Sluice.Usenet.Tests.Nntp;

/// <summary>Facts remembered about providers, and for how long (F18, F38).</summary>
public sealed class ProviderMemoryTests
{
    private static readonly Guid Provider = Guid.NewGuid();
    private static readonly Guid[] Providers = [Guid.NewGuid(), Guid.NewGuid(), Guid.NewGuid(), Provider];

    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void F18_Miss_is_remembered_for_one_hour_doubling_up_to_a_day()
    {
        var memory = new ProviderMemory(_time);
        foreach (var hours in new[] { 1, 2, 4, 8, 16, 24, 24 })
        {
            memory.RememberMissing(Provider, Id(1));
            _time.Advance(TimeSpan.FromHours(hours) - TimeSpan.FromTicks(1));
            Assert.True(memory.IsMissing(Provider, Id(1)), $"{hours} h");
            _time.Advance(TimeSpan.FromTicks(1));
            Assert.False(memory.IsMissing(Provider, Id(1)), $"{hours} h");
        }
    }

    [Theory]
    [InlineData(-730)]
    [InlineData(730)]
    public void F43_Clock_change_does_not_change_the_expiry_of_a_miss(int days)
    {
        var memory = new ProviderMemory(_time);
        memory.RememberMissing(Provider, Id(1));
        _time.SetWallClock(TimeSpan.FromDays(days));
        _time.Advance(TimeSpan.FromHours(1) - TimeSpan.FromTicks(1));
        Assert.True(memory.IsMissing(Provider, Id(1)));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(memory.IsMissing(Provider, Id(1)));
    }

    [Theory]
    [InlineData(-730, true)]
    [InlineData(730, false)]
    public void F43_Stored_miss_lasts_at_most_a_day_after_a_clock_change(int days, bool isBelieved)
    {
        var memory = new ProviderMemory(_time);
        memory.RememberMissing(Provider, Id(1));
        var stored = memory.TakeNew();
        _time.SetWallClock(TimeSpan.FromDays(days));
        var next = new ProviderMemory(_time);
        next.Restore(stored);
        Assert.Equal(isBelieved, next.IsMissing(Provider, Id(1)));
        _time.Advance(TimeSpan.FromDays(1));
        Assert.False(next.IsMissing(Provider, Id(1)));
    }

    [Fact]
    public void F18_Miss_applies_to_one_article_at_one_provider()
    {
        var memory = new ProviderMemory(_time);
        memory.RememberMissing(Provider, Id(1));
        Assert.False(memory.IsMissing(Provider, Id(2)));
        Assert.False(memory.IsMissing(Guid.NewGuid(), Id(1)));
    }

    [Fact]
    public void F18_Full_memory_forgets_its_oldest_miss()
    {
        var memory = new ProviderMemory(_time);
        memory.Configure(TimeSpan.FromHours(1), most: 100);
        for (var i = 0; i < 101; i++)
            memory.RememberMissing(Provider, Id(i));
        Assert.False(memory.IsMissing(Provider, Id(0)));
        Assert.All(Enumerable.Range(1, 100), i => Assert.True(memory.IsMissing(Provider, Id(i))));
    }

    [Fact]
    public void F38_New_values_are_saved_once_and_restored_after_a_restart()
    {
        var memory = new ProviderMemory(_time);
        memory.RememberMissing(Provider, Id(1));
        memory.RememberCap(Provider, 8);
        var stored = memory.TakeNew();
        Assert.True(memory.TakeNew().IsEmpty);

        var next = new ProviderMemory(_time);
        next.Restore(stored);
        Assert.True(next.IsMissing(Provider, Id(1)));
        Assert.Equal(8, next.CapOf(Provider));
        Assert.True(next.TakeNew().IsEmpty);
    }

    [Fact]
    public void F38_Restored_miss_does_not_replace_a_newer_answer()
    {
        var before = new ProviderMemory(_time);
        before.RememberMissing(Provider, Id(1));
        var stored = before.TakeNew();

        var next = new ProviderMemory(_time);
        next.RememberMissing(Provider, Id(1));
        next.ForgetMissing(Provider, Id(1));
        next.Restore(stored);

        Assert.False(next.IsMissing(Provider, Id(1)));
    }

    [Fact]
    public void Provider_lacking_much_of_a_release_is_demoted_for_a_while()
    {
        var order = new ReleaseOrder(_time);
        Answer(order, misses: 1, hits: 2);
        Assert.Equal(0, order.Behind("release", Providers).Count);
        Answer(order, misses: 1, hits: 0);
        Assert.True(order.Behind("release", Providers).Contains(3));
        Assert.Equal(0, order.Behind("another", Providers).Count);

        // Two misses of eighteen are less than 12 %.
        Answer(order, misses: 0, hits: 12);
        Assert.True(order.Behind("release", Providers).Contains(3));
        Answer(order, misses: 0, hits: 2);
        Assert.Equal(0, order.Behind("release", Providers).Count);

        Answer(order, misses: 8, hits: 0);
        Assert.True(order.Behind("release", Providers).Contains(3));
        _time.Advance(TimeSpan.FromMinutes(30));
        Assert.Equal(0, order.Behind("release", Providers).Count);
    }

    private static void Answer(ReleaseOrder order, int misses, int hits)
    {
        for (var i = 0; i < misses; i++)
            order.Answered("release", Provider, isMiss: true);
        for (var i = 0; i < hits; i++)
            order.Answered("release", Provider, isMiss: false);
    }

    private static MessageId Id(int number) => MessageId.Parse($"{number}@example.com");
}
