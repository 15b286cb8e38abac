using Sluice.Usenet.Par2;
using Xunit;

namespace Sluice.Usenet.Tests.Par2;

public sealed class Par2NameTests
{
    [Theory]
    [InlineData("Film.par2", "film", false, 0)]
    [InlineData("film.mkv.PAR2", "film.mkv", false, 0)]
    [InlineData("film.vol000+01.par2", "film", true, 1)]
    [InlineData("film.vol127+128.PAR2", "film", true, 128)]
    [InlineData("film.vol03-04.par2", "film", true, 0)]
    [InlineData("film.vol-1.par2", "film", true, 0)]
    [InlineData("film.vol7.par2", "film", true, 0)]
    [InlineData("film.vol1+99999999999.par2", "film", true, 0)]
    [InlineData("film.volume.par2", "film.volume", false, 0)]
    [InlineData("film.vol.par2", "film.vol", false, 0)]
    [InlineData("film.part01.rev", "film.part01", true, 0)]
    public void Par2_names_are_parsed_as_index_or_volume(string name, string set, bool isVolume, int slices) =>
        Assert.Equal(new Par2Name(set, isVolume, slices), Par2Name.Parse(name));

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData(".par2")]
    [InlineData("par2")]
    [InlineData("film.par")]
    [InlineData("film.par2.mkv")]
    [InlineData(".rev")]
    public void Other_names_are_not_par2(string? name) => Assert.Null(Par2Name.Parse(name));

    [Fact]
    public void One_index_per_set_is_chosen_and_no_volume()
    {
        PostedPar2[] files =
        [
            new("a.vol0+1.par2", null, 100),
            new("a.par2", null, 40_000),
            new("b.vol0+1.par2", null, 50),
            new("c.PAR2", null, 70),
            new("C.par2", null, 60),
            new("c.part1.rev", null, 1),
            new(null, 5, 900),
            new("0a1b2c", 5, 800),
            new("other.par2", 5, 1000),
            new(null, 6, 7),
        ];

        Assert.Equal([1, 4, 7, 9], Par2Name.Indexes(files));
    }
}
