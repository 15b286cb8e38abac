using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.ArchiveImport;

/// <summary>Random ranges of every layout over WebDAV: G2.</summary>
public sealed class RandomRangeTests(ImportBench bench) : IClassFixture<ImportBench>
{
    private const int Ranges = 1000;
    private const int Longest = 3000;

    public static TheoryData<string> Layouts => new(MockLayouts.Names);

    [Theory]
    [MemberData(nameof(Layouts))]
    public async Task G2_Random_ranges_over_WebDAV_match_the_post(string layout)
    {
        var release = MockLayouts.Make(layout);
        var ending = await bench.ImportAsync(release);
        Assert.Equal("", ending.Sentence);
        var shown = (await bench.ListAsync(ending.Name)).ToHashSet(StringComparer.Ordinal);
        var files = release.Entries.Where(entry => shown.Contains(entry.Path)).ToList();
        Assert.Equal(release.Entries.Where(entry => entry.Path.EndsWith(".mkv", StringComparison.Ordinal)), files);

        var random = new Random(layout.Length);
        for (var i = 0; i <= Ranges / MockLayouts.Names.Count; i++)
        {
            var entry = files[random.Next(files.Count)];
            var offset = random.NextInt64(entry.Bytes.Length);
            var length = (int)Math.Min(entry.Bytes.Length - offset, random.Next(1, Longest));
            await bench.AssertRangeAsync($"{ending.Name}/{entry.Path}", entry.Bytes, offset, length);
        }
    }
}
