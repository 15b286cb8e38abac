using Sluice.Testing;
using Sluice.Usenet.Primitives;
using Xunit;

namespace Sluice.Usenet.Tests.Primitives;

/// <summary>A map with limits on age and number of entries keeps the right ones.</summary>
public sealed class AgingMapTests
{
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(10);

    private readonly ManualTimeProvider _time = new();
    private readonly AgingMap<string, int> _map;

    public AgingMapTests() => _map = new AgingMap<string, int>(most: 3, Longest, _time);

    [Fact]
    public void Entry_is_found_until_it_is_too_old()
    {
        _map.Set("a", 1);
        var set = _time.GetTimestamp();
        _time.Advance(Longest - TimeSpan.FromTicks(1));
        Assert.True(_map.TryGet("a", out var value, out var since));
        Assert.Equal((1, set), (value, since));

        _time.Advance(TimeSpan.FromTicks(1));
        Assert.False(_map.TryGet("a", out _, out _));
        Assert.Empty(_map.All());
    }

    [Fact]
    public void Full_map_evicts_the_oldest_entry_and_Set_renews_the_age()
    {
        foreach (var key in (string[])["a", "b", "a", "c", "d"])
            _map.Set(key, 1);
        Assert.Equal(["a", "c", "d"], _map.All().Select(static entry => entry.Key));
    }

    [Fact]
    public void Expired_entry_does_not_count_toward_the_capacity()
    {
        _map.Set("a", 1);
        _time.Advance(Longest);
        _map.Set("b", 1);
        Assert.True(_map.TryAddOldest("a", 2, _time.GetTimestamp()));
        Assert.Equal([("a", 2), ("b", 1)], _map.All().Select(static entry => (entry.Key, entry.Value)));
    }

    [Fact]
    public void TryAddOldest_keeps_age_order_and_never_evicts()
    {
        _map.Set("a", 1);
        var before = _time.GetTimestamp();
        _time.Advance(Longest / 2);
        _map.Set("b", 1);
        Assert.False(_map.TryAddOldest("a", 2, before));
        Assert.True(_map.TryAddOldest("c", 2, before));
        Assert.False(_map.TryAddOldest("d", 2, before));
        Assert.Equal(["c", "a", "b"], _map.All().Select(static entry => entry.Key));

        _map.Set("d", 1);
        Assert.Equal(["a", "b", "d"], _map.All().Select(static entry => entry.Key));
        _time.Advance(Longest / 2);
        Assert.Equal(["b", "d"], _map.All().Select(static entry => entry.Key));
    }
}
