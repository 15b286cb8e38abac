using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>A text file of the working copy.</summary>
/// <param name="Path">Path below the repository's root, with forward slashes.</param>
/// <param name="Text">The whole text.</param>
internal sealed record TextFile(string Path, string Text);

/// <summary>A citation of a requirement.</summary>
/// <param name="Place">File and line.</param>
/// <param name="Code">The code of the requirement.</param>
internal readonly record struct Citation(string Place, string Code);

/// <summary>Finds citations of the contracts in a text. Pure.</summary>
internal static partial class Citations
{
    /// <summary>Returns every requirement code in a file, once for each occurrence.</summary>
    public static IEnumerable<Citation> Of(TextFile file, IReadOnlySet<string> families)
    {
        foreach (var (line, number) in Lines(file))
        {
            // A short code such as F18 may also be an identifier, so it counts only in comments, prose and test names.
            var codes = Dashed().Matches(line).Concat(Short().Matches(ProseOf(file.Path, line))).Concat(InName().Matches(line));
            foreach (var match in codes.Where(match => families.Contains(match.Groups["family"].Value)))
                yield return new Citation($"{file.Path}:{number}", match.Groups["code"].Value);
        }
    }

    /// <summary>Returns every section of a contract that a file cites: the page without its extension, and the number.</summary>
    public static IEnumerable<(string Place, string Page, string Section)> SectionsOf(TextFile file) =>
        from line in Lines(file)
        from match in SectionOfContract().Matches(line.Text).Concat(SectionOfPage().Matches(line.Text))
        from section in match.Groups["section"].Captures
        select ($"{file.Path}:{line.Number}", match.Groups["page"].Value.ToLowerInvariant(), section.Value);

    /// <summary>Finds citations of documents outside of the repository.</summary>
    public static IEnumerable<string> OutsideOf(TextFile file) =>
        from line in Lines(file)
        where Outside().IsMatch(line.Text)
        select $"{file.Path}:{line.Number} names a document outside of the repository.";

    private static IEnumerable<(string Text, int Number)> Lines(TextFile file) => file.Text.Split('\n').Select((text, index) => (text, index + 1));

    private static string ProseOf(string path, string line)
    {
        var mark = Path.GetExtension(path) switch
        {
            ".cs" => "//",
            ".sql" => "--",
            ".sh" => "#",
            _ => "",
        };
        var start = line.IndexOf(mark, StringComparison.Ordinal);
        return start < 0 ? "" : line[start..];
    }

    [GeneratedRegex(@"\b(?<code>(?<family>[A-Z]{3})-\d+[a-z]?)\b")]
    private static partial Regex Dashed();

    [GeneratedRegex(@"\b(?<code>(?<family>[A-Z])\d{1,2})\b")]
    private static partial Regex Short();

    [GeneratedRegex(@"\b(?<code>(?<family>[A-Z])\d{1,2})_[A-Za-z0-9]")]
    private static partial Regex InName();

    [GeneratedRegex(@"\b[Ss]ections? (?<section>\d+)(?: and (?<section>\d+))* of the (?<page>\w+) contract\b")]
    private static partial Regex SectionOfContract();

    [GeneratedRegex(@"\b(?<page>[a-z]+)\.md,? sections? (?<section>\d+)(?: and (?<section>\d+))*")]
    private static partial Regex SectionOfPage();

    [GeneratedRegex(@"\.\./shared\b|(?<![\w/.])(?:design|audits)/[\w.]")]
    private static partial Regex Outside();
}
