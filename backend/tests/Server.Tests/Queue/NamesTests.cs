using System.Text;
using Sluice.Server.Queue;
using Xunit;

namespace Sluice.Server.Tests.Queue;

public sealed class NamesTests
{
    [Theory]
    [InlineData("Some.Release.nzb", "Some.Release", null)]
    [InlineData("Some.Release.NZB.gz", "Some.Release", null)]
    [InlineData("Some.Release.bz2", "Some.Release", null)]
    [InlineData("Some.Release.zip", "Some.Release", null)]
    [InlineData("Some.Release.nzb.nzb", "Some.Release.nzb", null)]
    [InlineData("Rel{{pw}}.nzb", "Rel", "pw")]
    [InlineData("Rel {{p/w}}", "Rel", "p/w")]
    [InlineData("Rel{{a}}b}}.nzb", "Rel", "a}}b")]
    [InlineData("Rel password=p w.nzb", "Rel", "p w")]
    [InlineData("Rel/secret.nzb", "Rel", "secret")]
    [InlineData("Rel.nzb/secret", "Rel", "secret")]
    [InlineData("{{pw}}", "{{pw}}", null)]
    [InlineData("/leading", "/leading", null)]
    [InlineData("Rel{{}}", "Rel", null)]
    [InlineData("", "", null)]
    public void Name_is_parsed_without_password_and_extensions(string text, string name, string? password) =>
        Assert.Equal(new ItemName(name, password), ItemName.Parse(text));

    [Theory]
    [InlineData("a", "a")]
    [InlineData("", "Unnamed")]
    [InlineData("   ", "Unnamed")]
    [InlineData("..", "__")]
    [InlineData("a/../b", "a_.._b")]
    public void Release_name_is_cleaned_for_use_in_paths(string name, string clean) => Assert.Equal(clean, ReleaseName.Clean(name, windowsSafe: false));

    [Fact]
    public void Long_name_leaves_room_for_number_and_extension()
    {
        var clean = ReleaseName.Clean(string.Concat(Enumerable.Repeat("𝄞é", 200)), windowsSafe: true);

        Assert.InRange(Encoding.UTF8.GetByteCount(clean), 230, 240);
        Assert.Equal(clean, ReleaseName.Clean(clean, windowsSafe: true));
        Assert.DoesNotContain('\uFFFD', Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(clean)));
    }

    [Fact]
    public void First_free_number_is_taken() =>
        Assert.Equal("a (4)", ReleaseName.FindFree("a", name => name is "a" or "a (2)" or "a (3)"));

    [Theory]
    [InlineData("TV", true)]
    [InlineData("Sluice", true)]
    [InlineData("completed-symlinks", true)]
    [InlineData("mnt", true)]
    [InlineData("tv show", false)]
    public void Parent_folder_name_is_ambiguous(string name, bool expected) =>
        Assert.Equal(expected, ReleaseName.IsAmbiguous(name, "tv", "/mnt/sluice/completed-symlinks"));
}
