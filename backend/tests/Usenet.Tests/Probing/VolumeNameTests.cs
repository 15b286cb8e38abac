using Sluice.Usenet.Probing;
using Xunit;

namespace Sluice.Usenet.Tests.Probing;

public sealed class VolumeNameTests
{
    [Theory]
    [InlineData("a.part01.rar", "a|part", 0)]
    [InlineData("A.Part10.RAR", "a|part", 9)]
    [InlineData("a.rar", "a|rar", 0)]
    [InlineData("a.r00", "a|rar", 1)]
    [InlineData("a.s05", "a|rar", 106)]
    [InlineData("a.7z", "a|7z", 0)]
    [InlineData("a.7z.001", "a.7z|split", 0)]
    [InlineData("film.mkv.012", "film.mkv|split", 11)]
    [InlineData("a.zip", "a|zip", int.MaxValue)]
    [InlineData("a.z01", "a|zip", 0)]
    public void Volumes_are_recognized_by_name(string name, string set, int number)
    {
        var volume = VolumeName.Parse(name)!.Value;

        Assert.Equal((set, number), (volume.Set, volume.Number));
    }

    [Theory]
    [InlineData("film-01", "film|loose", 0, VolumeFormat.Split)]
    [InlineData("film-12.rar", "film.rar|loose", 11, VolumeFormat.Rar)]
    [InlineData("film_3.7z", "film.7z|loose", 2, VolumeFormat.SevenZip)]
    [InlineData("Film.7", "film|loose", 6, VolumeFormat.Split)]
    internal void Loose_parse_finds_numbers_possibly_from_a_title(string name, string set, int number, VolumeFormat format)
    {
        var volume = VolumeName.ParseLoose(name)!.Value;

        Assert.Equal((set, number, format, VolumeNaming.Loose), (volume.Set, volume.Number, volume.Format, volume.Naming));
        Assert.NotEqual(VolumeNaming.Loose, VolumeName.Parse(name)?.Naming);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("-1")]
    [InlineData("film")]
    [InlineData("film-")]
    [InlineData("film-1a")]
    [InlineData("film-1.mkv")]
    [InlineData("film-123456")]
    public void Other_names_have_no_volume_number(string? name) => Assert.Null(VolumeName.ParseLoose(name));

    [Fact]
    public void Random_names_parse_to_null_or_a_prefix_stem()
    {
        var random = new Random(11);
        const string Letters = "ar7zip.-_0139 part";
        for (var i = 0; i < 50_000; i++)
        {
            var name = new string([.. Enumerable.Range(0, random.Next(16)).Select(_ => Letters[random.Next(Letters.Length)])]);
            var volume = VolumeName.Parse(name) ?? VolumeName.ParseLoose(name);
            Assert.True(volume is null || (volume.Value.Stem.Length > 0 && name.StartsWith(volume.Value.Stem, StringComparison.Ordinal)));
        }
    }
}
