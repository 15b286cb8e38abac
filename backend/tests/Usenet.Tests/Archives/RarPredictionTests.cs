using Sluice.Usenet.Archives;
using Xunit;

namespace Sluice.Usenet.Tests.Archives;

/// <summary>Volumes are predicted from three of their set.</summary>
public sealed class RarPredictionTests
{
    [Theory]
    [InlineData(ArchiveFormat.Rar4)]
    [InlineData(ArchiveFormat.Rar5)]
    public void Middle_of_a_set_is_predicted_from_its_second_volume(ArchiveFormat format)
    {
        var volumes = RarSets.Of(format, 100, hasNumbers: true, ("note.txt", 30), ("film.mkv", 1234), ("more.txt", 20));
        var foretold = RarPrediction.Of(volumes[0], volumes[1], [.. volumes.Skip(2).SkipLast(1).Select(_ => (long?)null)], volumes[^1])!;

        Assert.Equal(volumes.Count, foretold.Count);
        Assert.Equal(volumes.Count - 3, foretold.Count(volume => volume.IsPredicted));
        var (expected, map) = (RarSet.Join(volumes, RarRead.NoPasswords), RarSet.Join(foretold, RarRead.NoPasswords));
        Assert.Equal(expected.Entries.SelectMany(entry => entry.Extents), map.Entries.SelectMany(entry => entry.Extents));
    }

    [Fact]
    public void Known_lengths_are_used_and_must_fit()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar4, 100, hasNumbers: true, ("film.mkv", 650));
        volumes[3] = volumes[3] with { Length = volumes[3].Length + 20, Parts = [volumes[3].Parts[0] with { DataLength = 120 }] };
        volumes[4] = volumes[4] with { Length = volumes[4].Length - 20, Parts = [volumes[4].Parts[0] with { DataLength = 80 }] };
        List<long?> lengths = [.. volumes.Skip(2).SkipLast(1).Select(volume => (long?)volume.Length)];

        Assert.Equal(120, RarPrediction.Of(volumes[0], volumes[1], lengths, volumes[^1])![3].Parts[0].DataLength);
        lengths[0]++;
        Assert.Null(RarPrediction.Of(volumes[0], volumes[1], lengths, volumes[^1]));
        lengths[0] = 110;
        Assert.Null(RarPrediction.Of(volumes[0], volumes[1], lengths, volumes[^1]));
    }

    [Fact]
    public void Set_not_spanned_by_one_stored_file_is_not_predicted()
    {
        var volumes = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 350), ("two.mkv", 350));
        Assert.Null(RarPrediction.Of(volumes[0], volumes[1], [null, null, null, null], volumes[^1]));
        var film = RarSets.Of(ArchiveFormat.Rar5, 100, hasNumbers: true, ("one.mkv", 450));
        Assert.NotNull(RarPrediction.Of(film[0], film[1], [null, null], film[^1]));
        Assert.Null(RarPrediction.Of(film[0], film[1], [null], film[^1]));
        Assert.Null(RarPrediction.Of(film[0], film[2], [null, null], film[^1]));
        Assert.Null(RarPrediction.Of(film[0], film[1], [null, null], RarSets.HeadOf(film[^1])));
        Assert.Null(RarPrediction.Of(film[1], film[1], [null, null], film[^1]));
        RarVolume Packed(RarVolume volume) => volume with { Parts = [volume.Parts[0] with { Method = "m3" }] };
        Assert.Null(RarPrediction.Of(Packed(film[0]), Packed(film[1]), [null, null], Packed(film[^1])));
    }

    [Theory]
    [InlineData("rar4", null)]
    [InlineData("rar4-old-names", null)]
    [InlineData("rar4-p", "secret")]
    [InlineData("rar4-hp", "secret")]
    [InlineData("rar5", null)]
    [InlineData("rar5-p", "secret")]
    [InlineData("rar5-hp", "secret")]
    [InlineData("rar5-rr", null)]
    [InlineData("rar5-130-volumes", null)]
    [InlineData("rar5-130-volumes-hp", "secret")]
    public async Task Real_RAR_sets_are_predicted_exactly(string name, string? password)
    {
        var passwords = password is null ? RarRead.NoPasswords : RarRead.Real(password);
        var files = RarFixture.Volumes(name);
        var read = await RarRead.Volumes([files[0], files[1], files[^1]], passwords);
        var whole = await RarRead.Volumes(files, passwords);
        var foretold = RarPrediction.Of(read[0], read[1], [.. files.Skip(2).SkipLast(1).Select(_ => (long?)null)], read[2]);

        Assert.NotNull(foretold);
        Assert.Equal(
            whole.SelectMany(volume => volume.Parts).Select(part => (part.DataOffset, part.DataLength)),
            foretold.SelectMany(volume => volume.Parts).Select(part => (part.DataOffset, part.DataLength)));
        Assert.Equal(whole.Select(volume => volume.Length), foretold.Select(volume => volume.Length));
    }
}
