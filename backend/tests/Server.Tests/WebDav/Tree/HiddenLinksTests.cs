using Sluice.Server.Library;
using Sluice.Server.WebDav.Tree;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.WebDav.Tree;

public sealed class HiddenLinksTests
{
    private static readonly Release Rel = new(1, "tv", "Rel", "hash", DateTimeOffset.UnixEpoch);

    private readonly ManualTimeProvider _time = new();

    [Fact]
    public void Hidden_name_reappears_after_30_seconds()
    {
        var hidden = new HiddenLinks(_time);
        hidden.Hide(Rel, "a");

        _time.Advance(TimeSpan.FromSeconds(30) - TimeSpan.FromTicks(1));
        Assert.True(hidden.Contains(Rel, "a"));
        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(hidden.Contains(Rel, "a"));

        hidden.Hide(Rel, "a");
        Assert.True(hidden.Contains(Rel, "a"));
    }

    [Fact]
    public void Hidden_folder_hides_its_contents_but_no_siblings()
    {
        var hidden = new HiddenLinks(_time);
        hidden.Hide(Rel, "a/b");

        Assert.True(hidden.Contains(Rel, "a/b"));
        Assert.True(hidden.Contains(Rel, "a/b/c/d"));
        Assert.False(hidden.Contains(Rel, "a"));
        Assert.False(hidden.Contains(Rel, "a/bc"));
        Assert.False(hidden.Contains(Rel, "b"));
        Assert.False(hidden.Contains(Rel with { Id = 2 }, "a/b"));
    }

    [Fact]
    public void Hidden_names_are_limited_to_the_newest()
    {
        var hidden = new HiddenLinks(_time);
        for (var i = 0; i < 60_000; i++)
        {
            _time.Advance(TimeSpan.FromTicks(1));
            hidden.Hide(Rel, i.ToString(System.Globalization.CultureInfo.InvariantCulture));
        }

        Assert.False(hidden.Contains(Rel, "0"));
        Assert.True(hidden.Contains(Rel, "59999"));
    }
}
