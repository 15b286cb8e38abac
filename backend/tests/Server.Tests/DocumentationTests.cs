using System.Text.RegularExpressions;
using Sluice.Server.Settings;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests;

/// <summary>The settings on the pages for users match the code.</summary>
public sealed partial class DocumentationTests
{
    [Fact]
    public void Configuration_page_lists_all_settings_ranges_and_defaults()
    {
        var page = File.ReadAllText(Repository.PathOf("docs/configuration.md"));
        var written = SettingRow().Matches(page).Select(match => match.Value.Trim()).ToHashSet();
        var meant = SettingSchema.All.Select(Row).ToHashSet();
        Assert.True(written.SetEquals(meant),
            $"docs/configuration.md lacks:\n{string.Join('\n', meant.Except(written))}\nand has without reason:\n{string.Join('\n', written.Except(meant))}");
    }

    [Fact]
    public void Configuration_page_lists_sources_and_restart_needs()
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

    [Fact]
    public void Configuration_pages_list_every_process_variable()
    {
        var read = VariableRead().Matches(File.ReadAllText(Repository.PathOf("backend/src/Server/Settings/ProcessOptions.cs")))
            .Select(match => match.Groups["name"].Value).ToHashSet();

        // The server reads it only to warn that it has no effect.
        Assert.True(read.Remove("ASPNETCORE_URLS"));
        Assert.Equal(read.Order(), Variables("docs/configuration.md", line => line.StartsWith("| `", StringComparison.Ordinal) ? line.Split('|')[1] : ""));
        Assert.Equal(read.Order(), Variables("docs/contracts/configuration.md", line => line.StartsWith("| CFG-6 |", StringComparison.Ordinal) ? line : ""));
    }

    /// <summary>Returns the upper-case names in a part of each line, sorted.</summary>
    private static IEnumerable<string> Variables(string page, Func<string, string> part) =>
        File.ReadLines(Repository.PathOf(page)).SelectMany(line => Variable().Matches(part(line))).Select(match => match.Groups["name"].Value).Order();

    /// <summary>Formats the key, its allowed values and its default; the description is free.</summary>
    private static string Row(SettingDefinition definition)
    {
        var initial = definition.Generated ? definition.Key == "api.strm-key" ? "random" : "random, printed once" : definition.Default.Length == 0 ? "empty" : $"`{definition.Default}`";
        return $"| `{definition.Key}` | {definition.Allowed} | {initial} |";
    }

    [GeneratedRegex(@"^\| `[a-z]+\.[a-z0-9.-]+` \|[^|]*\|[^|]*\|", RegexOptions.Multiline)]
    private static partial Regex SettingRow();

    [GeneratedRegex(@"^\| `(?<key>[a-z]+\.[a-z0-9.-]+)` \|[^|]*\|[^|]*\| (?<what>[^|]*) \|(?<sources>[^|]*)\|$")]
    private static partial Regex WholeRow();

    [GeneratedRegex(@"environment\.Get[A-Za-z]*\(""(?<name>[A-Z_]+)""")]
    private static partial Regex VariableRead();

    [GeneratedRegex("`(?<name>[A-Z][A-Z_]+)`")]
    private static partial Regex Variable();

    [GeneratedRegex("`(?<name>[^`]+)`")]
    private static partial Regex Name();
}
