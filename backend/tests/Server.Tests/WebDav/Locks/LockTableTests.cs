using Sluice.Server.WebDav.Locks;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav;

/// <summary>Conflicts and expiry of locks.</summary>
public sealed class LockTableTests
{
    private static readonly TimeSpan Minute = TimeSpan.FromMinutes(1);

    private readonly ManualTimeProvider _time = new();
    private readonly LockTable _locks;

    public LockTableTests() => _locks = new LockTable(_time);

    [Theory]
    [InlineData("/a exclusive 0", "/a exclusive 0", false)]
    [InlineData("/a exclusive 0", "/a shared 0", false)]
    [InlineData("/a shared 0", "/a exclusive 0", false)]
    [InlineData("/a shared 0", "/a shared infinity", true)]
    [InlineData("/a exclusive 0", "/a/b exclusive 0", true)]
    [InlineData("/a exclusive infinity", "/a/b/c exclusive 0", false)]
    [InlineData("/a exclusive infinity", "/ab exclusive 0", true)]
    [InlineData("/a/b exclusive 0", "/a exclusive infinity", false)]
    [InlineData("/a/b exclusive 0", "/a shared infinity", false)]
    [InlineData("/a/b shared 0", "/a shared infinity", true)]
    [InlineData("/a/b exclusive 0", "/a exclusive 0", true)]
    public void Second_lock_is_granted_unless_it_conflicts(string first, string second, bool granted)
    {
        var held = Grant(first)!;
        var grant = _locks.Grant(Wish(second), Minute);

        Assert.Equal(granted, grant.Granted is not null);
        Assert.Equal(granted ? null : held, grant.Conflict);
    }

    [Theory]
    [InlineData(-730)]
    [InlineData(730)]
    public void F43_Wall_clock_change_does_not_change_lock_expiry(int days)
    {
        var held = Grant("/a exclusive 0")!;
        _time.SetWallClock(TimeSpan.FromDays(days));
        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Single(_locks.Covering(new LockKey("/a")));
        Assert.Equal(1, _locks.SecondsLeft(held));
        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Empty(_locks.Covering(new LockKey("/a")));
    }

    [Fact]
    public void Refresh_restarts_the_timeout_of_a_lock()
    {
        var held = Grant("/a exclusive 0")!;
        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Equal(1, _locks.SecondsLeft(held));
        Assert.NotNull(_locks.Refresh(held.Token, Minute));
        _time.Advance(TimeSpan.FromSeconds(59));
        Assert.Single(_locks.Covering(new LockKey("/a")));

        _time.Advance(TimeSpan.FromSeconds(1));
        Assert.Empty(_locks.Covering(new LockKey("/a")));
        Assert.Null(_locks.Refresh(held.Token, Minute));
        Assert.False(_locks.Release(new LockKey("/a"), held.Token));
        Assert.NotNull(Grant("/a exclusive 0"));
    }

    [Fact]
    public void Lock_lasts_an_hour_at_most()
    {
        var held = _locks.Grant(Wish("/a exclusive 0"), TimeSpan.FromDays(1)).Granted!;

        Assert.Equal(3600, _locks.SecondsLeft(held));
        Assert.Equal(3600, _locks.SecondsLeft(_locks.Refresh(held.Token, TimeSpan.MaxValue)!));
    }

    [Fact]
    public void Full_table_accepts_locks_again_after_expiry()
    {
        for (var i = 0; i < LockTable.MaxLocks; i++)
            Assert.NotNull(Grant($"/a{i} exclusive 0"));
        Assert.Equal(default, _locks.Grant(Wish("/b exclusive 0"), Minute));

        _time.Advance(Minute);
        Assert.NotNull(Grant("/b exclusive 0"));
    }

    [Fact]
    public void Lock_can_be_released_at_any_path_it_covers()
    {
        var held = Grant("/a exclusive infinity")!;

        Assert.False(_locks.Release(new LockKey("/b"), held.Token));
        Assert.False(_locks.Release(new LockKey("/a"), "urn:uuid:other"));
        Assert.True(_locks.Release(new LockKey("/a/b"), held.Token));
        Assert.Empty(_locks.Covering(new LockKey("/a")));
    }

    [Fact]
    public void Forget_drops_the_locks_of_a_removed_path()
    {
        Grant("/a shared 0");
        Grant("/a/b shared 0");
        Grant("/ab shared 0");

        _locks.Forget(new LockKey("/a"), itself: false);
        Assert.Single(_locks.Covering(new LockKey("/a")));
        Assert.Empty(_locks.Below(new LockKey("/a")));
        _locks.Forget(new LockKey("/a"), itself: true);
        Assert.Empty(_locks.Covering(new LockKey("/a")));
        Assert.Single(_locks.Covering(new LockKey("/ab")));
    }

    [Theory]
    [InlineData("Second-100", 100)]
    [InlineData("second-100", 100)]
    [InlineData("Second-0", 1)]
    [InlineData("Second-4100000000", 3600)]
    [InlineData("Second-99999999999999999999999", 3600)]
    [InlineData("Infinite", 3600)]
    [InlineData("Infinite, Second-10", 3600)]
    [InlineData("Extended, Second-10, Second-20", 10)]
    [InlineData("Second--1", 3600)]
    [InlineData("Second-", 3600)]
    [InlineData("", 3600)]
    public void Timeout_header_uses_the_first_readable_value(string header, int seconds) =>
        Assert.Equal(seconds, (int)LockTimeout.Parse(header).TotalSeconds);

    private static LockTerms Wish(string text)
    {
        var parts = text.Split(' ');
        var scope = parts[1] == "exclusive" ? LockScope.Exclusive : LockScope.Shared;
        return new LockTerms(new LockKey(parts[0]), parts[0], scope, parts[2] == "infinity", "");
    }

    private DavLock? Grant(string text) => _locks.Grant(Wish(text), Minute).Granted;
}
