using Sluice.Server.AdminApi;
using Xunit;

namespace Sluice.Server.Tests.AdminApi;

/// <summary>Names and addresses in the support bundle (OPS-50).</summary>
public sealed class SupportNamesTests
{
    private readonly SupportNames _names = new(["Harbour Lights", "harbour lights (2024)", "Dune", "Up", "1917", "a.b[c]"], new Random(50));

    [Theory]
    [InlineData("Harbour Lights (2024) is ready", "harbour lights (2024)", "{0} is ready")]
    [InlineData("HARBOUR LIGHTS 2 and Harbour Lights.", "Harbour Lights", "{0} 2 and {0}.")]
    [InlineData("Dunedin, (Dune), Dune2", "Dune", "Dunedin, ({0}), Dune2")]
    [InlineData("Up in 1917", "", "Up in 1917")]
    [InlineData("x a.b[c]y a.b[c]", "a.b[c]", "x {0}y {0}")]
    public void Longest_whole_name_is_replaced(string text, string name, string expected) =>
        Assert.Equal(string.Format(System.Globalization.CultureInfo.InvariantCulture, expected, _names.WordOf(name)), _names.Mask(text));

    [Fact]
    public void Short_names_are_replaced_only_in_their_own_lines()
    {
        Assert.Equal($"{_names.WordOf("Up")} is ready", _names.Mask("Up is ready", ["Up"]));
        Assert.Equal($"GET /content/movies/{_names.WordOf("1917")}/{_names.WordOf("a.mkv")}", _names.Mask("GET /content/movies/1917/a.mkv", ["/content/movies/1917/a.mkv"]));
    }

    [Fact]
    public void Replacement_words_are_unique_and_unrelated_to_the_names()
    {
        var words = Enumerable.Range(0, 5000).Select(i => _names.WordOf($"name {i}")).ToList();

        Assert.Distinct(words);
        Assert.Equal(words[7], _names.WordOf("NAME 7"));
        Assert.NotEqual(words[0], new SupportNames([], new Random(51)).WordOf("name 0"));
    }

    [Theory]
    [InlineData("/content/movies/A%20B/b.mkv", "A%20B|A B|b.mkv|b.mkv")]
    [InlineData("/view/content/movies/A/b.mkv", "A|A|b.mkv|b.mkv")]
    [InlineData("/nzbs/movies/A.nzb", "A.nzb|A.nzb")]
    [InlineData("/content/movies/", "")]
    [InlineData("/config/sluice.db", "")]
    [InlineData("/api/queue", "")]
    [InlineData("A film", "A film")]
    public void Names_in_a_path_of_the_tree_are_found(string path, string names) => Assert.Equal(names, string.Join('|', SupportNames.NamesIn(path)));

    [Theory]
    [InlineData("could not open some.file.mkv: gone", "could not open * gone")]
    [InlineData("“x y.part01.rar”, (z.R00) 'q.7z'", "“x *”, (*) '*'")]
    [InlineData("a new .strm file of version 1.0.14 at 12:30:45 in sluice.db", "a new .strm file of version 1.0.14 at 12:30:45 in sluice.db")]
    public void Names_of_unknown_files_are_replaced(string text, string expected) =>
        Assert.Equal(expected, System.Text.RegularExpressions.Regex.Replace(_names.Mask(text), "film-[0-9a-f]{4}:?", "*"));

    [Theory]
    [InlineData("203.0.113.7:563", "203.0.113.0/24:563")]
    [InlineData("fe80::1:2:3", "fe80::/48")]
    [InlineData("2001:db8:1:2:3:4:5:6", "2001:db8:1::/48")]
    [InlineData("127.0.0.1, ::1, 192.168.1.0/24, 2001:db8::/32, 999.1.1.1", "127.0.0.1, ::1, 192.168.1.0/24, 2001:db8::/32, 999.1.1.1")]
    public void Addresses_are_truncated_to_their_network(string text, string expected) => Assert.Equal(expected, _names.Mask(text));

    [Fact]
    public void Impossible_names_are_ruled_out()
    {
        var words = SupportNames.WordsOf(["Film A.B-2024 failed", "(émile)"]);

        Assert.True(SupportNames.CanOccur("b a 2024", words));
        Assert.True(SupportNames.CanOccur("Émile", words));
        Assert.False(SupportNames.CanOccur("b a 2025", words));
    }
}
