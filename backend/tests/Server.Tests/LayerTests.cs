using System.Globalization;
using System.Xml.Linq;
using Sluice.Server.Tests.Layers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>The rules of the code: imports between folders, length of files, and forbidden text.</summary>
/// <remarks><see cref="LayerCheckTests"/> shows that each of these checks can fail.</remarks>
public sealed class LayerTests
{
    [Fact]
    public void Imports_follow_the_layer_order() =>
        AssertNone(ImportCheck.Violations(LayerOrder.All, SourceTree.Product()));

    [Fact]
    public void Projects_reference_only_allowed_projects()
    {
        foreach (var (project, allowed) in LayerOrder.ProjectReferences)
        {
            var references = XDocument.Load(Repository.PathOf(project)).Descendants("ProjectReference")
                .Select(reference => Path.GetFileName(reference.Attribute("Include")!.Value.Replace('\\', '/')));
            Assert.Equal(allowed.Order(), references.Order());
        }
    }

    [Fact]
    public void Mock_news_server_uses_one_package_unused_by_the_product()
    {
        Assert.Equal(["System.IO.Hashing"], PackagesOf("tools/MockNntpServer/MockNntpServer.csproj"));
        Assert.DoesNotContain("System.IO.Hashing", PackagesOf("backend/src/Usenet/Usenet.csproj"));
        Assert.DoesNotContain("System.IO.Hashing", PackagesOf("backend/src/Server/Server.csproj"));
    }

    [Fact]
    public void Files_stay_within_the_length_limit() =>
        AssertNone(FileLengths.Violations(SourceTree.Everything(), FileLengths.Allowed));

    [Fact]
    public void Methods_stay_within_size_and_branch_limits() =>
        AssertNone(MethodSizes.Violations(SourceTree.Everything()));

    [Fact]
    public void Sources_are_utf8_and_end_with_one_line_feed() =>
        AssertNone([.. SourceTree.Bytes().SelectMany(file => SourceForm.Violations(file.Path, file.Bytes))]);

    [Fact]
    public void Imports_are_sorted() =>
        AssertNone(SourceForm.UnsortedImports(SourceTree.Everything()));

    [Fact]
    public void Locks_are_declared_in_the_file_they_guard() =>
        AssertNone(HouseRules.GuardedElsewhere(SourceTree.Product()));

    [Theory]
    [InlineData("backend/src/Usenet/")]
    [InlineData("backend/src/Server/")]
    [InlineData("tools/")]
    public void Small_files_are_used_by_more_than_one_file(string folder) =>
        AssertNone(SmallFiles.Violations(SourceTree.Product(), folder));

    /// <summary>Prints the statistics of the code with <c>-showLiveOutput</c>.</summary>
    [Fact]
    public void Every_product_file_is_in_one_known_folder()
    {
        var files = SourceTree.Product();
        string[] folders = ["backend/src/Usenet/", "backend/src/Server/", "tools/MockNntpServer/", "tools/FullNzbTester/"];
        foreach (var folder in folders)
        {
            var own = files.Where(file => file.Path.StartsWith(folder, StringComparison.Ordinal)).ToList();
            TestContext.Current.TestOutputHelper?.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{folder} {own.Count} files, {own.Sum(file => file.Lines)} lines, {SmallFiles.Violations(files, folder).Count} small files named by one other"));
        }

        foreach (var file in files.Where(file => file.Lines > FileLengths.Long))
            TestContext.Current.TestOutputHelper?.WriteLine($"{file.Path} has {file.Lines} lines");
        Assert.All(
            files.Where(file => file.Path != "tools/DemoClip.cs"),
            file => Assert.Single(folders, folder => file.Path.StartsWith(folder, StringComparison.Ordinal)));
    }

    [Fact]
    public void Product_has_no_unfinished_work_notes() =>
        AssertNone(HouseRules.Notes(SourceTree.Product()));

    [Fact]
    public void Comments_rarely_use_clauses_without_a_noun() =>
        AssertNone(CommentVoice.Violations(SourceTree.Product()));

    [Fact]
    public void Test_names_have_at_most_60_characters() =>
        AssertNone(HouseRules.LongTestNames(SourceTree.Everything()));

    [Fact]
    public void Warnings_are_silenced_only_with_a_reason() =>
        AssertNone(HouseRules.SilencedWarnings(SourceTree.Everything()));

    [Fact]
    public void GetUtcNow_is_called_only_in_WallClock() =>
        AssertNone(HouseRules.Uses(SourceTree.Product(), HouseRules.TimeOfDay(), "backend/src/Usenet/Primitives/WallClock.cs"));

    [Fact]
    public void Unicode_normalization_is_used_only_in_NfcName() =>
        AssertNone(HouseRules.Uses(SourceTree.Product(), HouseRules.UnicodeForm(), "backend/src/Usenet/Primitives/NfcName.cs"));

    [Fact]
    public void SQLite_is_used_only_in_the_Database_folder() =>
        AssertNone(HouseRules.Uses(SourceTree.Product(), HouseRules.Engine(), "backend/src/Server/Database/", inStrings: true));

    [Fact]
    public void JSON_and_rows_use_types_known_at_build_time()
    {
        AssertNone(HouseRules.Uses(SourceTree.Product(), HouseRules.ReflectedJson(), ""));
        AssertNone(HouseRules.Uses([.. SourceTree.Product().Where(file => file.Words.Contains("Dapper"))], HouseRules.ReflectedRows(), ""));
        AssertNone(HouseRules.RowsOfBytes(SourceTree.Product()));
    }

    [Fact]
    public void No_Dapper_call_uses_reflection() => Assert.Empty(ReflectedCalls.In(typeof(Program).Assembly));

    [Fact]
    public void Architecture_page_draws_the_import_table()
    {
        var files = SourceTree.Product();
        var existing = LayerOrder.All.Where(layer => files.Any(file => file.Path.StartsWith(layer.Path, StringComparison.Ordinal)))
            .Select(layer => layer.Folder).ToHashSet();
        AssertNone(LayerDiagram.Violations(LayerOrder.All, existing, File.ReadAllText(Repository.PathOf("docs/architecture.md"))));
    }

    [Fact]
    public void Architecture_page_names_only_existing_types_and_paths()
    {
        var types = SourceTree.Everything().SelectMany(file => file.Types).ToHashSet();
        AssertNone(ArchitecturePage.Unknown(File.ReadAllText(Repository.PathOf("docs/architecture.md")), types, Exists));

        static bool Exists(string path) => new[] { path, $"backend/src/{path}", $"backend/src/Usenet/{path}", $"backend/src/Server/{path}" }
            .Any(each => Path.Exists(Repository.PathOf(each)));
    }

    private static IEnumerable<string> PackagesOf(string project) =>
        XDocument.Load(Repository.PathOf(project)).Descendants("PackageReference").Select(package => package.Attribute("Include")!.Value);

    /// <summary>Fails with one line per violation.</summary>
    private static void AssertNone(IReadOnlyList<string> violations)
    {
        if (violations.Count > 0)
            Assert.Fail(string.Join('\n', violations));
    }
}
