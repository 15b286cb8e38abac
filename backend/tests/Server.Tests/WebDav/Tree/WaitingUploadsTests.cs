using Sluice.Server.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

public sealed class WaitingUploadsTests
{
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void Name_is_forgotten_after_ten_minutes()
    {
        var waiting = new WaitingUploads(_time);
        Assert.True(waiting.TryAdd("tv", "a.nzb"));

        _time.Advance(TimeSpan.FromMinutes(10) - TimeSpan.FromTicks(1));
        Assert.NotNull(waiting.Find("tv", "a.nzb"));
        Assert.Equal(["tv"], waiting.Folders());
        _time.Advance(TimeSpan.FromTicks(1));

        Assert.Null(waiting.Find("tv", "a.nzb"));
        Assert.Empty(waiting.In("tv"));
        Assert.Empty(waiting.Folders());
        Assert.False(waiting.Remove("tv", "a.nzb"));
    }

    [Theory]
    [InlineData(-730)]
    [InlineData(730)]
    public void F43_Wall_clock_change_does_not_change_name_expiry(int days)
    {
        var waiting = new WaitingUploads(_time);
        Assert.True(waiting.TryAdd("tv", "a.nzb"));
        _time.SetWallClock(TimeSpan.FromDays(days));
        _time.Advance(TimeSpan.FromMinutes(10) - TimeSpan.FromTicks(1));
        Assert.NotNull(waiting.Find("tv", "a.nzb"));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.Null(waiting.Find("tv", "a.nzb"));
    }

    [Fact]
    public void Full_table_accepts_names_again_after_expiry()
    {
        var waiting = new WaitingUploads(_time);
        for (var i = 0; i < 1000; i++)
            Assert.True(waiting.TryAdd("tv", $"{i}.nzb"));

        Assert.False(waiting.TryAdd("tv", "more.nzb"));
        Assert.True(waiting.TryAdd("tv", "0.nzb"));
        _time.Advance(TimeSpan.FromMinutes(10));
        Assert.True(waiting.TryAdd("tv", "more.nzb"));
        Assert.Single(waiting.In("tv"));
    }
}
