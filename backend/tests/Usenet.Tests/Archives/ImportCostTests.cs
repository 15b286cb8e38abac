using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Media;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Articles fetched to probe and map a release (IMP-20, IMP-21).</summary>
public sealed class ImportCostTests
{
    [Theory]
    [InlineData(LayoutFormat.Rar5, 100, 4)]
    [InlineData(LayoutFormat.Rar4, 100, 4)]
    [InlineData(LayoutFormat.SevenZip, 100, 4)]
    public async Task Named_set_costs_three_heads_and_its_last_article(LayoutFormat format, int volumes, int expected)
    {
        await using var post = await MappedPost.MapAsync(
            MockLayouts.Builder("set").AddArchive(new ArchiveLayout { Format = format, Volumes = volumes, Entries = [new("film.mkv", 5_000_000)] }).Build());

        Assert.Equal(expected, post.Bodies);
        Assert.Equal(volumes - 3, post.Map.Predicted.Count);
    }

    [Fact]
    public async Task Unnamed_volumes_cost_a_head_each_and_one_last_article()
    {
        await using var post = await MappedPost.MapAsync(
            MockLayouts.Builder("random").AddArchive(MockLayouts.Rar5(30, 1_800_000) with { Naming = VolumeNaming.Random }).Shuffle().Build());

        Assert.Equal(31, post.Bodies);
    }

    [Fact]
    public async Task Unnamed_RAR4_volumes_cost_two_articles_each()
    {
        await using var post = await MappedPost.MapAsync(
            MockLayouts.Builder("random").AddArchive(MockLayouts.Rar4(30, 1_800_000) with { Naming = VolumeNaming.Random }).Shuffle().Build());

        Assert.Equal(60, post.Bodies);
    }

    [Fact]
    public async Task Only_the_index_of_a_PAR2_set_is_read()
    {
        await using var post = await MappedPost.MapAsync(
            MockLayouts.Builder("par2").AddArchive(MockLayouts.Rar5(12)).AddPar2(blocks: 8).Build());

        Assert.Single(post.Probe.Files, file => file.Kind == MediaKind.Par2 && file.AskedArticles > 0);
        Assert.InRange(post.Bodies, 5, 6);
    }

    [Fact]
    public async Task Season_costs_four_articles_per_set()
    {
        var builder = MockLayouts.Builder("season");
        for (var episode = 1; episode <= 12; episode++)
            builder.AddArchive(MockLayouts.Rar5(10, 300_000) with { Stem = $"show.s01e{episode:00}", Entries = [new($"show.s01e{episode:00}.mkv", 300_000)] });
        await using var post = await MappedPost.MapAsync(builder.Build());

        Assert.Equal(12 * 4, post.Bodies);
        await post.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Seek_into_a_predicted_volume_costs_its_head_once()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5"));
        var file = post.File("film.mkv");
        var third = file.Extents[0].Length + file.Extents[1].Length + (file.Extents[2].Length / 2);

        await post.ReadAsync(file, third, 100);
        var first = post.BodiesNow - post.Bodies;
        await post.ReadAsync(file, third + 100, 100);

        Assert.Equal((2L, 2L), (first, post.BodiesNow - post.Bodies));
    }
}
