using Dapper;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nntp.Health;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>Learned values of providers survive a restart (F38).</summary>
public sealed class ProviderMemoryStoreTests : IDisposable
{
    private static readonly Guid Provider = Guid.NewGuid();

    private readonly TemporaryFolder _folder = new();
    private readonly ManualTimeProvider _time = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task F38_Caps_and_misses_survive_a_restart()
    {
        var misses = Enumerable.Range(0, 3).Select(i => Miss(TimeSpan.FromHours(i + 1))).ToArray();
        await using (var database = _folder.OpenDatabase())
        {
            var store = new ProviderMemoryStore(database, _time);
            await store.SaveAsync(new LearnedValues(new Dictionary<Guid, int?> { [Provider] = 8 }, misses), 100, Token);
        }

        await using (var database = _folder.OpenDatabase())
        {
            var store = new ProviderMemoryStore(database, _time);
            var loaded = await store.LoadAsync(100, Token);
            Assert.Equal(8, loaded.Caps[Provider]);
            Assert.Equal(misses, loaded.Misses);

            // Expired values are not loaded and are deleted. A cap that no longer reduces the connections is deleted too.
            _time.Advance(TimeSpan.FromMinutes(90));
            Assert.Equal(misses[1..], (await store.LoadAsync(100, Token)).Misses);
            await store.SaveAsync(new LearnedValues(new Dictionary<Guid, int?> { [Provider] = null }, [misses[2]]), 100, Token);
            Assert.Empty((await store.LoadAsync(100, Token)).Caps);
            Assert.Equal(2, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM provider_miss"), Token));
        }
    }

    [Theory]
    [InlineData(long.MaxValue, long.MaxValue)]
    [InlineData(253402300800000, 0)]
    [InlineData(long.MaxValue, long.MinValue)]
    public async Task F38_Out_of_range_timestamps_are_loaded_without_error(long until, long believed)
    {
        await using var database = _folder.OpenDatabase();
        await database.WriteAsync(
            connection =>
            {
                connection.Execute("INSERT INTO provider_miss (key, until, believed) VALUES (zeroblob(16), @until, @believed)", new { until, believed });
                return connection.Execute("INSERT INTO provider_cap (provider, cap) VALUES (@upper, 4), (@lower, 4), (@other, @until)", new
                {
                    upper = Provider.ToString().ToUpperInvariant(),
                    lower = Provider.ToString(),
                    other = Guid.NewGuid().ToString(),
                    until,
                });
            },
            Token);

        var loaded = await new ProviderMemoryStore(database, _time).LoadAsync(100, Token);
        var memory = new ProviderMemory(_time);
        memory.Restore(loaded);

        Assert.Single(loaded.Misses);
        Assert.Equal([Provider], loaded.Caps.Keys);
    }

    [Fact]
    public async Task F38_Breakers_survive_a_restart_and_invalid_rows_do_not()
    {
        var now = _time.GetUtcNow();
        var open = new RememberedBreak(NntpFault.ConnectTimeout, now.AddMinutes(-2), now.AddSeconds(30), TimeSpan.FromSeconds(40), 3, 4);
        var closed = new RememberedBreak(null, now.AddMinutes(-9), now, TimeSpan.FromSeconds(5), 1, 0);
        var breaks = new Dictionary<(Guid, BreakerKind), RememberedBreak?> { [(Provider, BreakerKind.Dials)] = open, [(Provider, BreakerKind.Stats)] = closed };
        await using (var database = _folder.OpenDatabase())
            await new ProviderMemoryStore(database, _time).SaveAsync(Learned(breaks), 100, Token);

        await using (var database = _folder.OpenDatabase())
        {
            var store = new ProviderMemoryStore(database, _time);
            Assert.Equal(breaks, (await store.LoadAsync(100, Token)).Breaks);

            await store.SaveAsync(Learned(new() { [(Provider, BreakerKind.Dials)] = null }), 100, Token);
            await database.WriteAsync(
                connection => connection.Execute(
                    "INSERT INTO provider_break VALUES (@provider, 77, 1, 0, 0, 0, 1, 1), ('no id', 1, 1, 0, 0, 0, 1, 1), (@provider, 0, 9999, 0, -1, 0, 1, 1)",
                    new { provider = Provider.ToString() }),
                Token);
            var left = Assert.Single((await store.LoadAsync(100, Token)).Breaks);
            Assert.Equal((Provider, BreakerKind.Stats), left.Key);
        }
    }

    [Fact]
    public async Task F38_Stored_misses_are_limited_to_the_newest()
    {
        await using var database = _folder.OpenDatabase();
        var store = new ProviderMemoryStore(database, _time);
        var misses = Enumerable.Range(1, 50).Select(i => Miss(TimeSpan.FromMinutes(i))).ToArray();
        await store.SaveAsync(new LearnedValues(new Dictionary<Guid, int?>(), misses), 20, Token);
        Assert.Equal(misses[30..], (await store.LoadAsync(100, Token)).Misses);
        Assert.Equal(misses[45..], (await store.LoadAsync(5, Token)).Misses);
    }

    private static LearnedValues Learned(Dictionary<(Guid, BreakerKind), RememberedBreak?> breaks) =>
        new(new Dictionary<Guid, int?>(), []) { Breaks = breaks };

    private RememberedMiss Miss(TimeSpan believed) => new(Guid.NewGuid(), _time.GetUtcNow() + believed, believed);
}
