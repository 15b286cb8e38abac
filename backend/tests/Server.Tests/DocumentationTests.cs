using System.Text.RegularExpressions;
using Sluice.Server.Settings;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>What the pages for users say about settings is what the code has.</summary>
public sealed partial class DocumentationTests
{
    [Fact]
    public void Configuration_page_lists_every_setting_with_its_range_and_default()
    {
        var page = File.ReadAllText(Repository.PathOf("docs/configuration.md"));
        var written = SettingRow().Matches(page).Select(match => match.Value.Trim()).ToHashSet();
        var meant = SettingSchema.All.Select(Row).ToHashSet();
        Assert.True(written.SetEquals(meant),
            $"docs/configuration.md lacks:\n{string.Join('\n', meant.Except(written))}\nand has without reason:\n{string.Join('\n', written.Except(meant))}");
    }

    /// <summary>Key, what it may be, default; the sentence behind it is free.</summary>
    private static string Row(SettingDefinition definition)
    {
        var initial = definition.Generated ? definition.Key == "api.strm-key" ? "random" : "random, printed once" : definition.Default.Length == 0 ? "empty" : $"`{definition.Default}`";
        return $"| `{definition.Key}` | {definition.Allowed} | {initial} |";
    }

    [GeneratedRegex(@"^\| `[a-z]+\.[a-z0-9.-]+` \|[^|]*\|[^|]*\|", RegexOptions.Multiline)]
    private static partial Regex SettingRow();
}
