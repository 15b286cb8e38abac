using Sluice.Testing;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Streams;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Volumes that were predicted and are not as predicted never give a wrong byte (IMP-52).</summary>
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
    public async Task Volume_that_is_not_as_predicted_is_found_before_a_byte_of_it_leaves(LayoutFormat format, int volume, int bytes)
    {
        var release = MockLayouts.Builder("planted")
            .AddArchive(new ArchiveLayout { Format = format, Volumes = 12, Entries = [new("film.mkv", 600_000)], Shifted = (volume, bytes) }).Build();
        await using var post = await MappedPost.MapAsync(release);
        var (entry, file) = (release.Entries[0], Assert.Single(post.Map.Files));
        Assert.NotEmpty(post.Map.Predicted);

        // Each volume in an order that lets none of them vouch for the next one.
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
    public async Task Whole_file_over_predicted_volumes_asks_for_its_articles_and_no_others()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5"));
        var file = post.File("film.mkv");

        await post.ReadAsync(file, 0, (int)file.Length);
        var articles = post.Map.Maps.Sum(map => map!.Count);

        Assert.Equal(articles, post.BodiesNow - post.Bodies);
    }

    [Fact]
    public async Task Readers_share_what_was_proved()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("rar5"));
        var file = post.File("film.mkv");
        var offset = file.Extents.Take(5).Sum(extent => extent.Length) + 100;

        await Task.WhenAll(Enumerable.Range(0, 6).Select(_ => post.ReadAsync(file, offset, 100)));

        // The three predicted volumes before it, and the article that was wanted, which is the head of its own volume.
        Assert.Equal(4, post.BodiesNow - post.Bodies);
    }

    [Fact]
    public async Task Where_PAR2_tells_the_lengths_the_head_of_the_volume_is_enough()
    {
        var release = MockLayouts.Builder("told", 30_000).AddArchive(MockLayouts.Rar5(12, 1_200_000)).AddPar2(0).Build();
        await using var post = await MappedPost.MapAsync(release);
        var file = post.File("film.mkv");

        await post.ReadAsync(file, file.Extents.Take(6).Sum(extent => extent.Length) + 50_000, 100);

        Assert.Equal(2, post.BodiesNow - post.Bodies);
    }
}
