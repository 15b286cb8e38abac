using Sluice.Server.Tests.Layers;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>Every check of <see cref="ContractTests"/> detects a violation.</summary>
public sealed class ContractCheckTests
{
    // Concatenated, because the codes would otherwise be citations themselves.
    private static readonly string Known = "DAV" + "-7";
    private static readonly string Invented = "DAV" + "-999";
    private static readonly string KnownShort = "F" + "18";
    private static readonly string InventedShort = "F" + "99";

    private static readonly string Index = "| [webdav.md](webdav.md) | DAV | a |\n| [reliability.md](reliability.md) | F, G | b |\n";

    [Theory]
    [InlineData("A.cs", "/// <summary>Says why ({0}).</summary>")]
    [InlineData("A.cs", "var text = \"heads by {0}\";")]
    [InlineData("a.md", "It does so ({0}).")]
    [InlineData("a.sh", "# {0}")]
    [InlineData("0001.sql", "-- {0}")]
    public void Unknown_requirement_code_is_found_in_any_file(string path, string line)
    {
        Assert.Empty(Unresolved(path, string.Format(null, line, Known)));
        Assert.Contains($"{path}:1 names {Invented}", Assert.Single(Unresolved(path, string.Format(null, line, Invented))), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("A.cs", "public void {0}_Part_is_proved() {{ }}")]
    [InlineData("A.cs", "// A rule ({0}).")]
    [InlineData("a.md", "| {0} |")]
    public void Unknown_one_letter_code_is_found_in_names_and_text(string path, string line)
    {
        Assert.Empty(Unresolved(path, string.Format(null, line, KnownShort)));
        Assert.Contains($"names {InventedShort}", Assert.Single(Unresolved(path, string.Format(null, line, InventedShort))), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("var text = value.ToString(\"{0}\");")]
    [InlineData("Assert.Equal(7, sheet.{0});")]
    [InlineData("using System.Runtime.Intrinsics.{0};")]
    public void Code_tokens_are_not_citations(string line) => Assert.Empty(Unresolved("A.cs", string.Format(null, line, InventedShort)));

    [Theory]
    [InlineData("// UTF-8, SHA-256, ISO-8859-1 and CRC-32 are no families.")]
    [InlineData("// The whole of X99 is of no family, either.")]
    public void Codes_of_unknown_families_are_ignored(string line) => Assert.Empty(Unresolved("A.cs", line));

    [Theory]
    [InlineData("// section 3 of the WebDAV contract", true)]
    [InlineData("// sections 3 and 4 of the WebDAV contract", false)]
    [InlineData("// webdav.md section 3", true)]
    [InlineData("// docs/contracts/webdav.md, section 5", false)]
    [InlineData("// RFC 9110, section 14.6", true)]
    public void Missing_section_is_found(string line, bool isThere) => Assert.Equal(isThere, Unresolved("A.cs", line).Count == 0);

    [Fact]
    public void Code_with_two_rows_is_found() =>
        Assert.Contains($"{Known} has 2 rows.", Violations($"{Row(Known, "**built**")}{Row(Known, "**to come**")}"));

    [Theory]
    [InlineData("**built**", true)]
    [InlineData("**to come**", true)]
    [InlineData("**partly**: no page for it yet", true)]
    [InlineData("**partly**", false)]
    [InlineData("built", false)]
    [InlineData("**soon**", false)]
    [InlineData("", false)]
    public void Row_without_a_valid_state_is_found(string state, bool isState) => Assert.Equal(isState, Violations(Row(Known, state)).Count == 0);

    [Fact]
    public void Row_on_another_family_page_is_found() =>
        Assert.Contains(Violations(Row(Known, "**built**") + Row(KnownShort, "**built**")), v => v.Contains($"{KnownShort} does not belong", StringComparison.Ordinal));

    [Fact]
    public void Family_without_rows_is_found() => Assert.Contains("DAV has no row.", Violations("nothing"));

    [Theory]
    [InlineData("see ..{0}shared/contracts", true)]
    [InlineData("(design{0}house.md)", true)]
    [InlineData("audits{0}engine-1.md", true)]
    [InlineData("a redesign{0}of the rest", false)]
    [InlineData("docs{0}contracts/webdav.md", false)]
    public void Reference_outside_the_repository_is_found(string text, bool isOutside) =>
        Assert.Equal(isOutside, Citations.OutsideOf(new TextFile("a.md", string.Format(null, text, '/'))).Any());

    private static IReadOnlyList<string> Unresolved(string path, string text) =>
        Pages(Row(Known, "**built**"), Row(KnownShort, "**built**")).Unresolved([new TextFile(path, text)]);

    private static IReadOnlyList<string> Violations(string rows) => Pages(rows, Row(KnownShort, "**built**") + Row("G" + "1", "**built**")).Violations();

    private static ContractPages Pages(string webDav, string reliability) => new(
    [
        new TextFile("docs/contracts/README.md", Index),
        new TextFile("docs/contracts/webdav.md", $"## 3. Methods\n\n{webDav}"),
        new TextFile("docs/contracts/reliability.md", reliability),
    ]);

    private static string Row(string code, string state) => $"| {code} | Something, with \\| in it. | {state} |\n";
}
