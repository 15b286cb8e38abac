using Dapper;
using Sluice.Server.Providers;
using Sluice.Server.Tests.Database;
using Sluice.Testing;
using Sluice.Usenet.Nntp;
using Xunit;

namespace Sluice.Server.Tests.Providers;

/// <summary>What was learned about providers outlives the process (F38).</summary>
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

            // What is out of date is neither read nor kept; a cap that is no longer lower goes.
            _time.Advance(TimeSpan.FromMinutes(90));
            Assert.Equal(misses[1..], (await store.LoadAsync(100, Token)).Misses);
            await store.SaveAsync(new LearnedValues(new Dictionary<Guid, int?> { [Provider] = null }, [misses[2]]), 100, Token);
            Assert.Empty((await store.LoadAsync(100, Token)).Caps);
            Assert.Equal(2, await database.ReadAsync(connection => connection.ExecuteScalar<int>("SELECT count(*) FROM provider_miss"), Token));
        }
    }

    [Fact]
    public async Task F38_The_table_of_misses_is_bounded()
    {
        await using var database = _folder.OpenDatabase();
        var store = new ProviderMemoryStore(database, _time);
        var misses = Enumerable.Range(1, 50).Select(i => Miss(TimeSpan.FromMinutes(i))).ToArray();
        await store.SaveAsync(new LearnedValues(new Dictionary<Guid, int?>(), misses), 20, Token);
        Assert.Equal(misses[30..], (await store.LoadAsync(100, Token)).Misses);
        Assert.Equal(misses[45..], (await store.LoadAsync(5, Token)).Misses);
    }

    private RememberedMiss Miss(TimeSpan believed) => new(Guid.NewGuid(), _time.GetUtcNow() + believed, believed);
}
