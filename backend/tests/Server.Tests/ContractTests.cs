using Sluice.Server.Tests.Layers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>The requirements of <c>docs/contracts</c>, and every citation of them in the repository.</summary>
/// <remarks><see cref="ContractCheckTests"/> shows that each of these checks can fail.</remarks>
public sealed class ContractTests
{
    private static readonly string[] Extensions = [".cs", ".md", ".sh", ".sql", ".props", ".csproj"];
    private static readonly string[] Made = ["bin", "obj", "node_modules", "wwwroot"];

    [Fact]
    public void Every_requirement_has_one_row_and_a_state() => AssertNone(Pages().Violations());

    [Fact]
    public void Every_cited_requirement_and_section_exists() => AssertNone(Pages().Unresolved(Everything()));

    [Fact]
    public void Repository_cites_no_document_outside() => AssertNone([.. Everything().SelectMany(Citations.OutsideOf)]);

    private static ContractPages Pages() => new([.. Read("docs/contracts")]);

    private static IReadOnlyList<TextFile> Everything() =>
    [
        .. Read("backend"), .. Read("docs"), .. Read("tools"),
        .. Directory.EnumerateFiles(Repository.Root, "*.md").Select(ReadFile),
    ];

    private static IEnumerable<TextFile> Read(string folder) =>
        Directory.EnumerateFiles(Repository.PathOf(folder), "*", SearchOption.AllDirectories)
            .Where(path => Extensions.Contains(Path.GetExtension(path)) && !RelativeTo(path).Split('/').Any(Made.Contains))
            .Order(StringComparer.Ordinal)
            .Select(ReadFile);

    private static TextFile ReadFile(string path) => new(RelativeTo(path), File.ReadAllText(path));

    private static string RelativeTo(string path) => Path.GetRelativePath(Repository.Root, path).Replace('\\', '/');

    private static void AssertNone(IReadOnlyList<string> violations)
    {
        if (violations.Count > 0)
            Assert.Fail(string.Join('\n', violations));
    }
}
