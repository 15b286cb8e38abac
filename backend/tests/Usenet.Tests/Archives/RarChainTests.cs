using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Volumes are sorted into sets by their content.</summary>
public sealed class RarChainTests
{
    private static readonly (string, int)[] Season = [("one.mkv", 250), ("two.mkv", 420), ("three.mkv", 135), ("four.mkv", 90)];

    public static TheoryData<ArchiveFormat, bool, bool> Kinds => new()
    {
        { ArchiveFormat.Rar4, true, true }, { ArchiveFormat.Rar5, true, true }, { ArchiveFormat.Rar5, true, false },
    };

    [Theory]
    [MemberData(nameof(Kinds))]
    public void Shuffled_season_volumes_form_one_set(ArchiveFormat format, bool hasNumbers, bool isWhole)
    {
        var volumes = RarSets.Of(format, 100, hasNumbers, Season);
        for (var seed = 0; seed < 50; seed++)
        {
            var order = Enumerable.Range(0, volumes.Count).ToArray();
            new Random(seed).Shuffle(order);
            var shuffled = volumes.Pick(order);
            var set = Assert.Single(RarChain.Sort(isWhole ? shuffled : [.. shuffled.Select(RarSets.HeadOf)]));

            Assert.Equal(4, RarSet.Join(shuffled.Pick([.. set]), RarRead.NoPasswords).Entries.Count);
        }
    }

    [Fact]
    public void Season_without_numbers_is_ordered_by_its_files()
    {
        // The names decide the order of volumes that hold only the middle of one file.
        var volumes = RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: false, Season);
        var given = volumes.Pick(6, 2, 3, 8, 0, 4, 1, 5, 7);
        var set = Assert.Single(RarChain.Sort(given));

        Assert.Equal([.. volumes], given.Pick([.. set]));
    }

    [Fact]
    public void Unrelated_sets_are_not_merged()
    {
        List<RarVolume> all =
        [
            .. RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 250)), .. RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("two.mkv", 350)),
            .. RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: false, ("one.mkv", 250)), .. RarSets.Of(ArchiveFormat.Rar4, 500, hasNumbers: false, ("a.srt", 10)),
            .. RarSets.Of(ArchiveFormat.Rar4, 500, hasNumbers: false, ("a.srt", 10)),
        ];
        var order = Enumerable.Range(0, all.Count).ToArray();
        new Random(5).Shuffle(order);
        var shuffled = all.Pick(order);
        var sets = RarChain.Sort(shuffled);

        Assert.Equal(5, sets.Count);
        Assert.Equal([.. Enumerable.Range(0, all.Count)], sets.SelectMany(set => set).Order());
        foreach (var set in sets)
            Assert.Single(RarSet.Join(shuffled.Pick([.. set]), RarRead.NoPasswords).Entries);
    }

    [Fact]
    public void Volume_heads_of_two_seasons_are_not_mixed_up()
    {
        // Both sets have a second file that begins in volume 2, so numbers link no heads; whole volumes link.
        var a = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("a1.mkv", 250), ("a2.mkv", 250));
        var b = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("b1.mkv", 250), ("b2.mkv", 250));
        List<RarVolume> all = [.. a, .. b];

        Assert.Equal(4, RarChain.Sort([.. all.Select(RarSets.HeadOf)]).Count);
        Assert.Equal([[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]], RarChain.Sort(all));
    }

    [Fact]
    public void Files_ending_with_their_volume_are_linked_by_number()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 300), ("two.mkv", 200), ("three.mkv", 100));
        Assert.Equal([[0, 1, 2, 3, 4, 5]], RarChain.Sort(volumes));
        Assert.Equal([[0, 1, 2, 3, 4, 5]], RarChain.Sort([.. volumes.Select(RarSets.HeadOf)]));
    }

    [Fact]
    public void Finished_set_is_not_linked_to_higher_numbers()
    {
        var one = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 300));
        var two = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("two.mkv", 600));
        Assert.Equal(2, RarChain.Sort([.. one, .. two.Skip(3)]).Count);
    }

    [Fact]
    public void Every_volume_lands_in_exactly_one_set()
    {
        var random = new Random(3);
        for (var run = 0; run < 500; run++)
        {
            var volumes = Enumerable.Range(0, random.Next(1, 12)).Select(_ => new RarVolume
            {
                Format = random.Next(2) == 0 ? ArchiveFormat.Rar4 : ArchiveFormat.Rar5,
                Length = 300,
                Number = random.Next(3) == 0 ? null : random.Next(6),
                IsVolume = random.Next(4) > 0,
                IsFirst = random.Next(3) == 0,
                IsWhole = random.Next(2) == 0,
                Continues = random.Next(3) switch { 0 => true, 1 => false, _ => null },
                Parts = [.. Enumerable.Range(0, random.Next(3)).Select(_ =>
                    RarSets.Part(ArchiveFormat.Rar5, $"{random.Next(3)}", 100, random.Next(3), random.Next(2) == 0, random.Next(2) == 0))],
            }).ToList();
            var sets = RarChain.Sort(volumes);
            Assert.Equal([.. Enumerable.Range(0, volumes.Count)], sets.SelectMany(set => set).Order());
        }
    }
}
