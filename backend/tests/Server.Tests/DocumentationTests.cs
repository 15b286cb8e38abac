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

    [Fact]
    public void Configuration_page_names_every_other_source_and_what_needs_a_restart()
    {
        var rows = File.ReadLines(Repository.PathOf("docs/configuration.md")).Select(line => WholeRow().Match(line)).Where(match => match.Success)
            .ToDictionary(match => match.Groups["key"].Value);
        foreach (var definition in SettingSchema.All)
        {
            var row = rows[definition.Key];
            var sources = definition.Aliases.SelectMany(alias => alias.Member is { } member ? new[] { alias.Name, member } : [alias.Name])
                .Concat(definition.Fallbacks.Select(fallback => fallback.Name));
            Assert.Equal(sources, Name().Matches(row.Groups["sources"].Value).Select(match => match.Groups["name"].Value));
            Assert.True(
                definition.Restart == row.Groups["what"].Value.Contains("rom the next start", StringComparison.Ordinal),
                $"{definition.Key}: whether it needs a restart");
        }
    }

    /// <summary>Key, what it may be, default; the sentence behind it is free.</summary>
    private static string Row(SettingDefinition definition)
    {
        var initial = definition.Generated ? definition.Key == "api.strm-key" ? "random" : "random, printed once" : definition.Default.Length == 0 ? "empty" : $"`{definition.Default}`";
        return $"| `{definition.Key}` | {definition.Allowed} | {initial} |";
    }

    [GeneratedRegex(@"^\| `[a-z]+\.[a-z0-9.-]+` \|[^|]*\|[^|]*\|", RegexOptions.Multiline)]
    private static partial Regex SettingRow();

    [GeneratedRegex(@"^\| `(?<key>[a-z]+\.[a-z0-9.-]+)` \|[^|]*\|[^|]*\| (?<what>[^|]*) \|(?<sources>[^|]*)\|$")]
    private static partial Regex WholeRow();

    [GeneratedRegex("`(?<name>[^`]+)`")]
    private static partial Regex Name();
}
