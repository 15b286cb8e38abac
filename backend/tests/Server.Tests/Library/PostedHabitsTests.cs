using System.Text;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;
using Xunit;

namespace Sluice.Server.Tests.Library;

/// <summary>The header fields of a file's articles are learned once, so missing ones cost nothing during playback (F18).</summary>
public sealed class PostedHabitsTests : IDisposable
{
    private const int ArticleSize = 20_000;
    private const int Articles = 60;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Fact]
    public async Task Post_without_checksums_costs_at_most_5_percent_more()
    {
        var release = new MockRelease("plain", 19, [new MockFile { Name = "film.mkv", Size = (long)Articles * ArticleSize, ArticleSize = ArticleSize }]);
        var truth = new byte[release.Files[0].Size];
        release.Fill(0, 0, truth);
        await using var mock = await MockServer.StartAsync(new MockOptions { Faults = [new MockFault { Kind = FaultKind.YencNoCrc }] });
        await using (var host = await StartAsync(mock))
        {
            var id = await host.AddAsync(release.ToNzb(), "Rel.nzb", Token, "&cat=tv");
            await host.WaitForHistoryAsync(id[0], Token);
            Assert.Equal(new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Never), await StoredAsync(host));
            Assert.InRange(await PlayAsync(host, mock, truth), Articles, Articles * 1.05);

            // An invalid value, as after an update from a version without habits.
            await host.Get<SluiceDatabase>().WriteAsync(connection => connection.Execute("UPDATE posted_file SET habit = 63"), Token);
        }

        await using (var restarted = await StartAsync(mock))
            Assert.InRange(await PlayAsync(restarted, mock, truth), Articles, Articles * 1.05);
        await using var again = await StartAsync(mock);
        Assert.Equal(Carries.Never, (await StoredAsync(again)).Checksum);
        Assert.Equal(Carries.Yes, (await StoredAsync(again)).Range);
    }

    [Fact]
    public async Task New_article_habit_is_saved_to_every_release_of_the_NZB()
    {
        await using var database = _folder.OpenDatabase();
        var store = new LibraryStore(database);
        var posted = new StoredPostedFile(3, SegmentPlaces.Range(0, 2), SegmentMap.Uniform(2, 600, 1000));
        foreach (var (name, hash) in new[] { ("One", "hash"), ("Two", "hash"), ("Other", "other") })
        {
            await database.WriteAsync(
                connection => LibraryStore.Insert(connection, new NewRelease("tv", name, hash, [posted], []), DateTimeOffset.UnixEpoch), Token);
        }

        var habits = new PostedHabits(store);
        var habit = habits.For("hash", posted);
        Assert.Same(habit, habits.For("hash", posted));
        var shown = new ArticleHabit(Carries.Yes, Carries.Yes, Carries.Never);
        habit.Learn(shown);
        await habits.SaveAsync(Token);
        Assert.Equal([shown, shown, default], await AllAsync(database));

        await database.WriteAsync(connection => connection.Execute("UPDATE posted_file SET habit = 0"), Token);
        habit.Learn(shown);
        await habits.SaveAsync(Token);
        Assert.Equal([default, default, default], await AllAsync(database));
        habit.Learn(shown with { Checksum = Carries.Yes });
        await habits.SaveAsync(Token);
        Assert.Equal([shown with { Checksum = Carries.Yes }, shown with { Checksum = Carries.Yes }, default], await AllAsync(database));
    }

    private async Task<ProductHost> StartAsync(MockServer mock)
    {
        // Hedging is off, because repeated requests on a busy machine are no cost of missing checksums.
        var host = await ProductHost.StartAsync(
            _folder,
            mock,
            replace: null,
            ("SLUICE_CONFIG__USENET__SEGMENT_CACHE__ENABLED", "false"),
            ("SLUICE_CONFIG__USENET__HEDGE__ENABLED", "false"));
        host.Client.DefaultRequestHeaders.Authorization =
            new("Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"admin:{ProductHost.Password}")));
        return host;
    }

    private static async Task<long> PlayAsync(ProductHost host, MockServer mock, byte[] truth)
    {
        var before = mock.Stats.CommandCount("BODY");
        Assert.Equal(truth, await host.Client.GetByteArrayAsync(new Uri("/content/tv/Rel/film.mkv", UriKind.Relative), Token));
        return mock.Stats.CommandCount("BODY") - before;
    }

    private static async Task<ArticleHabit> StoredAsync(ProductHost host) => Assert.Single(await AllAsync(host.Get<SluiceDatabase>()));

    private static Task<IReadOnlyList<ArticleHabit>> AllAsync(SluiceDatabase database) => database.ReadAsync(
        connection => (IReadOnlyList<ArticleHabit>)[.. connection.Query<long>("SELECT habit FROM posted_file ORDER BY release_id").Select(ArticleHabit.Unpack)], Token);
}
