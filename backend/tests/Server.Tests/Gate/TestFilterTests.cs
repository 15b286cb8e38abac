using System.Text.RegularExpressions;
using Sluice.Server.Tests.Layers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Gate;

/// <summary>Test filters in scripts and pages. Nothing compiles them, so a renamed test would fail only in <c>tools/test.sh --all</c>.</summary>
public sealed partial class TestFilterTests
{
    [Fact]
    public void Test_filters_in_scripts_and_pages_name_tests()
    {
        var words = SourceTree.Everything().Where(file => file.Path.StartsWith("backend/tests/", StringComparison.Ordinal))
            .SelectMany(file => file.Words).ToHashSet();
        var filters = Directory.GetFiles(Repository.PathOf("tools"), "*.sh").Concat(Directory.GetFiles(Repository.PathOf("docs"), "*.md"))
            .SelectMany(file => Filter().Matches(File.ReadAllText(file))).Select(match => match.Groups["name"].Value).Distinct().ToList();

        Assert.NotEmpty(filters);
        Assert.All(filters, filter => Assert.Contains(words, word => Names(filter, word)));
    }

    private static bool Names(string filter, string word) => filter.EndsWith('*') ? word.StartsWith(filter[..^1], StringComparison.Ordinal) : word == filter;

    [GeneratedRegex(@"-(class|method)-? '\*\.([A-Z]\w*\.)*(?<name>\w+\*?)'")]
    private static partial Regex Filter();
}
