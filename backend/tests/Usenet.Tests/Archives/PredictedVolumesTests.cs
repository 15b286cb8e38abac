using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Volumes that differ from their prediction never serve a wrong byte (IMP-52).</summary>
public sealed class PredictedVolumesTests
{
    public static TheoryData<LayoutFormat, int, int> Plants
    {
        get
        {
            var plants = new TheoryData<LayoutFormat, int, int>();
            foreach (var format in (LayoutFormat[])[LayoutFormat.Rar5, LayoutFormat.Rar4, LayoutFormat.SevenZip])
            {
                foreach (var (volume, bytes) in ((int, int)[])[(2, 1), (5, 300), (8, 16), (5, -700)])
                    plants.Add(format, volume, bytes);
            }

            return plants;
        }
    }

    [Theory]
    [MemberData(nameof(Plants))]
    public async Task Mispredicted_volume_is_refuted_before_serving_a_wrong_byte(LayoutFormat format, int volume, int bytes)
    {
        var release = MockLayouts.Builder("planted")
            .AddArchive(new ArchiveLayout { Format = format, Volumes = 12, Entries = [new("film.mkv", 600_000)], Shifted = (volume, bytes) }).Build();
        await using var post = await MappedPost.MapAsync(release);
        var (entry, file) = (release.Entries[0], Assert.Single(post.Map.Files));
        Assert.NotEmpty(post.Map.Predicted);

        // Reads each volume, in an order in which no volume confirms the next.
        var refused = 0;
        foreach (var place in (int[])[6, 0, 11, 7, 3, 9, 5, 2, 8, 4, 10, 1])
        {
            var offset = (600_000L * place / 12) + 20_000;
            try
            {
                await post.AssertRangeAsync(entry, file, offset, 5000);
            }
            catch (RefutedExtentException)
            {
                refused++;
            }
        }

        Assert.InRange(refused, 1, 12);
        Assert.Single(post.Refuted);

        await using var anew = await MappedPost.MapAsync(release, new MappingOptions { PredictsVolumes = false });
        await anew.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Predicted_file_read_whole_fetches_only_its_own_articles()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5"));
        var file = post.File("film.mkv");

        await post.ReadAsync(file, 0, (int)file.Length);
        var articles = post.Map.Maps.Sum(map => map!.Count);

        Assert.Equal(articles, post.BodiesNow - post.Bodies);
    }

    [Fact]
    public async Task Readers_share_proved_volumes()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5"));
        var file = post.File("film.mkv");
        var offset = file.Extents.Take(5).Sum(extent => extent.Length) + 100;

        await Task.WhenAll(Enumerable.Range(0, 6).Select(_ => post.ReadAsync(file, offset, 100)));

        // Fetches the three predicted volumes before it, and the requested article, which is the head of its own volume.
        Assert.Equal(4, post.BodiesNow - post.Bodies);
    }

    [Fact]
    public async Task Seek_with_PAR2_lengths_costs_head_and_data_article()
    {
        var release = MockLayouts.Builder("told", 30_000).AddArchive(MockLayouts.Rar5(12, 1_200_000)).AddPar2(0).Build();
        await using var post = await MappedPost.MapAsync(release);
        var file = post.File("film.mkv");

        await post.ReadAsync(file, file.Extents.Take(6).Sum(extent => extent.Length) + 50_000, 100);

        Assert.Equal(2, post.BodiesNow - post.Bodies);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(10)]
    [InlineData(100)]
    [InlineData(1000)]
    public async Task Seek_after_proof_costs_one_article_as_in_a_plain_file(int volumes)
    {
        await using var post = await SmallSetAsync(volumes);
        var (file, middle) = MiddleOf(post);

        // Fetches the heads of the shorter side, that of the volume, and the articles with the bytes. The import has read three heads.
        var before = await CountAsync(post, () => post.ReadAsync(file, middle, 64));
        var nearer = Math.Max(0, (volumes / 2) - 2);
        Assert.InRange(before, 1 + nearer, 2 + nearer);

        // The proof survives a restart; the offset is in no cache.
        post.Restart();
        var other = volumes == 1 ? 0 : OffsetOf(file, (volumes / 2) - 1);
        Assert.Equal(1, await CountAsync(post, () => post.ReadAsync(file, other, 64)));
        Assert.Equal(volumes < 10 ? 0 : nearer + 1, post.Proved.Count);
    }

    [Fact]
    public async Task Head_read_between_unproved_volumes_proves_nothing()
    {
        await using var post = await SmallSetAsync(40);
        var file = post.File("film.mkv");

        // The reader leaves before any head besides its own has arrived.
        var middle = Assert.Single(post.Map.Predicted, volume => volume.Place == 20);
        await post.InBackground().LookAsync(middle, Token);
        Assert.Empty(post.Proved);

        post.Restart();
        Assert.InRange(await CountAsync(post, () => post.ReadAsync(file, OffsetOf(file, 20), 64)), 19, 21);
    }

    [Fact]
    public async Task Canceled_proof_keeps_the_volumes_proved_from_the_edge()
    {
        var release = SmallSet(60);
        await using var post = await MappedPost.MapAsync(release);
        var file = post.File("film.mkv");
        post.Host.Mock.ChangeFaults([new MockFault { Kind = FaultKind.BodyStall, Articles = ArticleSelection.Article(release.MessageId(50, 1)), Duration = TimeSpan.FromMinutes(1) }]);
        var arrived = 0;
        using var leave = new CancellationTokenSource();

        // Volume 40 lies nearer to the end, whose last volume the import has read. Its reader leaves with one of 19 heads missing.
        await using (var stream = post.Open(file, OffsetOf(file, 40)))
        {
            stream.WatchProof(() =>
            {
                if (Interlocked.Increment(ref arrived) == 18)
                    leave.Cancel();
            });
            await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await stream.ReadExactlyAsync(new byte[64], leave.Token));
        }

        // The volumes between the edge and the missing head are proved, and the next reader does not fetch their heads.
        Assert.Equal(Enumerable.Range(51, 8), post.Proved.Keys.Select(volume => volume.Place).Order());
        post.Host.Mock.ChangeFaults([]);
        post.Restart();
        var asked = Asked();
        await post.ReadAsync(file, OffsetOf(file, 40), 64);
        Assert.Equal(asked, Asked());

        int[] Asked() => [.. Enumerable.Range(51, 8).Select(volume => post.Host.Mock.Stats.BodyCount(release.MessageId(volume, 1)))];
    }

    [Fact]
    public async Task Missing_head_on_the_nearer_side_falls_back_to_the_other()
    {
        var release = SmallSet(20);
        await using var post = await MappedPost.MapAsync(release);
        var file = post.File("film.mkv");
        post.Host.Mock.ChangeMissing(ArticleSelection.Article(release.MessageId(4, 1)));

        await post.AssertRangeAsync(release.Entries[0], file, OffsetOf(file, 8), 64);

        Assert.Equal(1, post.Sought);
        await Assert.ThrowsAsync<ArticleGoneException>(() => post.ReadAsync(file, OffsetOf(file, 4), 64));
    }

    [Fact]
    public async Task Background_proof_reads_and_reports_each_head_once()
    {
        await using var post = await SmallSetAsync(200);
        var file = post.File("film.mkv");

        var proof = post.InBackground();
        var cost = await CountAsync(post, async () =>
        {
            foreach (var volume in proof.Open)
                await proof.LookAsync(volume.Volume, Token);
        });

        Assert.Equal(197, cost);
        Assert.Equal(197, post.Proved.Count);
        Assert.All(post.Proved.Values, times => Assert.Equal(1, times));
        Assert.Empty(post.InBackground().Open);
        Assert.Equal(1, await CountAsync(post, () => post.ReadAsync(file, MiddleOf(post).Offset, 64)));
        post.Restart();
        Assert.Equal(1, await CountAsync(post, () => post.ReadAsync(file, MiddleOf(post).Offset + 5000, 64)));
    }

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static MockRelease SmallSet(int volumes) => MockLayouts.Builder("small", 3000).AddArchive(MockLayouts.Rar5(volumes, volumes * 5000L)).Build();

    private static Task<MappedPost> SmallSetAsync(int volumes) => MappedPost.MapAsync(SmallSet(volumes));

    private static (MappedFile File, long Offset) MiddleOf(MappedPost post)
    {
        var file = post.File("film.mkv");
        return (file, OffsetOf(file, file.Extents.Count / 2));
    }

    // In the second article of the volume, so that its head is an article more.
    private static long OffsetOf(MappedFile file, int volume) => file.Extents.Take(volume).Sum(extent => extent.Length) + 3500;

    private static async Task<long> CountAsync(MappedPost post, Func<Task> actAsync)
    {
        var before = post.BodiesNow;
        await actAsync();
        return post.BodiesNow - before;
    }
}
