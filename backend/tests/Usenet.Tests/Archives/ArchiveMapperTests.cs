using Sluice.Testing;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

public sealed class ArchiveMapperTests
{
    public static TheoryData<string> Names => new(MockLayouts.Names);

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Layout_reads_back_byte_for_byte(string name)
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make(name));

        await post.AssertReadsAsPostedAsync();
        Assert.Empty(post.Refuted);
    }

    [Theory]
    [InlineData("rar5")]
    [InlineData("rar5-140-volumes")]
    [InlineData("rar4")]
    [InlineData("7z")]
    [InlineData("rar-in-rar")]
    public async Task Layout_without_prediction_reads_back_byte_for_byte(string name)
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make(name), new MappingOptions { PredictsVolumes = false });

        Assert.Empty(post.Map.Predicted);
        await post.AssertReadsAsPostedAsync();
    }

    [Fact]
    public async Task Random_ranges_of_every_layout_match_the_post() => await ReadRangesAsync(50_000);

    [Fact]
    [Trait("Category", "Long")]
    public async Task Million_random_ranges_of_every_layout_match_the_post() => await ReadRangesAsync(1_000_000);

    [Fact]
    public async Task Film_in_an_encrypted_7z_is_recognized_by_its_first_bytes()
    {
        await using var post = await MappedPost.MapAsync(MockLayouts.Make("7z-encrypted"));

        Assert.Equal(MediaKind.Matroska, Assert.Single(post.Map.Files).Kind);
    }

    private static async Task ReadRangesAsync(int ranges)
    {
        const int Longest = 3000;
        var random = new Random(16);
        foreach (var name in MockLayouts.Names)
        {
            await using var post = await MappedPost.MapAsync(MockLayouts.Make(name));
            var files = post.Host.Release.Entries.Select(entry => (Entry: entry, File: post.FileOf(entry))).ToList();
            for (var i = 0; i < ranges / MockLayouts.Names.Count; i++)
            {
                var (entry, file) = files[random.Next(files.Count)];
                var offset = random.NextInt64(file.Length);
                await post.AssertRangeAsync(entry, file, offset, (int)Math.Min(file.Length - offset, random.Next(1, Longest)));
            }
        }
    }
}
