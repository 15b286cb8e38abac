using Sluice.Server.Tests.Queue;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>Quarantine of unreferenced NZBs (F33, F41, IMP-3).</summary>
public sealed class QuarantineTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Orphans_are_quarantined_and_restored_when_referenced()
    {
        await using var films = await PublishedFilms.CreateAsync(3);
        var (good, stored) = (films.CopyDatabase(), films.StoredNzbs);
        films.Execute("DELETE FROM history_item WHERE name = 'Film 1'; DELETE FROM release WHERE name = 'Film 1'");

        await films.StartAsync();
        await films.UntilAsync(() => Task.FromResult(films.StoredNzbs.Count == 2));
        await films.StopAsync();
        Assert.Equal(stored.Except(films.StoredNzbs).Order(), films.Quarantined.Order());

        films.PutDatabase(good);
        await films.StartAsync();
        await films.StopAsync();
        var id = films.AcceptId;
        await films.StartAsync(("SLUICE_ACCEPT_DATABASE", id));
        await films.AssertPlayAsync();
        Assert.Equal(stored, films.StoredNzbs);
        Assert.Empty(films.Quarantined);
    }

    [Theory]
    [InlineData(5, true)]
    [InlineData(6, false)]
    public async Task Too_many_orphans_are_left_in_place(int orphans, bool moved)
    {
        await using var films = await PublishedFilms.CreateAsync(2);
        for (var i = 0; i < orphans; i++)
            films.AddOrphan();
        // A replaced database is checked completely at the next start.
        films.PutDatabase(films.CopyDatabase());

        await films.StartAsync();
        await films.UntilAsync(() => Task.FromResult(
            films.StoredNzbs.Count == 2 || films.Log.Any(line => line.Contains("safety limit", StringComparison.Ordinal))));

        Assert.Equal(moved ? 2 : 2 + orphans, films.StoredNzbs.Count);
        Assert.Equal(moved ? orphans : 0, films.Quarantined.Count);
        await films.AssertPlayAsync();
    }

    [Fact]
    public async Task Removed_item_leaves_its_nzb_in_quarantine()
    {
        await using var films = await PublishedFilms.CreateAsync(0);
        await films.StartAsync();
        var id = (await films.Host.AddAsync(NzbText.Of("a.mkv"), "Queued.nzb", Token, "&priority=-2")).Single();
        var stored = films.StoredNzbs;

        await films.Host.CallAsync($"mode=queue&name=delete&value={id}", Token);

        Assert.Empty(films.StoredNzbs);
        Assert.Equal(stored, films.Quarantined);
    }
}
