using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>The table Golden/layouts.txt: posted files are grouped into sets by their names.</summary>
public sealed class GoldenLayoutsTests
{
    public static TheoryData<string> Titles => [.. GoldenCorpus.Read("layouts.txt").Select(one => one.Title)];

    [Theory]
    [MemberData(nameof(Titles))]
    public void Names_form_the_sets_in_the_golden_table(string title)
    {
        var lines = GoldenCorpus.Read("layouts.txt").Single(one => one.Title == title).Lines;

        Assert.Equal(
            lines.Where(line => line.StartsWith("=> ", StringComparison.Ordinal)).Select(line => line[3..]),
            Describe([.. lines.Where(line => !line.StartsWith("=> ", StringComparison.Ordinal))]));
    }

    private static IEnumerable<string> Describe(IReadOnlyList<string> names) =>
        names.GroupBy(name => VolumeName.Parse(name)?.Set ?? (Par2Name.Parse(name) is { } par2 ? $"par2 {par2.Set}" : "plain"))
            .Select(set =>
            {
                if (VolumeName.Parse(set.First()) is not { } first)
                    return $"{set.Key}: {string.Join(", ", set.OrderBy(name => Par2Name.Parse(name)?.IsVolume))}";
                var volumes = set.Select(name => (Name: name, VolumeName.Parse(name)!.Value.Number)).OrderBy(volume => volume.Number);
                return $"{first.Format} {first.Naming} {first.Stem}: {string.Join(", ", volumes.Select(volume => $"{volume.Number} {volume.Name}"))}";
            });
}
