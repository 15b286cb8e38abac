using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>Rules for single lines that the compiler does not know.</summary>
internal static partial class HouseRules
{
    /// <summary>Notes to oneself: what is missing is written down where everyone plans from, never in the product.</summary>
    public static IReadOnlyList<string> Notes(IReadOnlyList<SourceFile> files) =>
        Lines(files, line => Note().IsMatch(line), "holds a note to oneself");

    /// <summary>Silenced warnings whose line, or the line above, does not say why.</summary>
    public static IReadOnlyList<string> SilencedWarnings(IReadOnlyList<SourceFile> files)
    {
        var violations = new List<string>();
        foreach (var file in files)
        {
            var lines = file.Text.Split('\n');
            for (var at = 0; at < lines.Length; at++)
            {
                var silenced = Pragma().IsMatch(lines[at]) && !lines[at].Contains("//", StringComparison.Ordinal)
                    && (at == 0 || !lines[at - 1].TrimStart().StartsWith("//", StringComparison.Ordinal));
                var suppressed = Suppression().IsMatch(lines[at]) && !lines[at].Contains("Justification", StringComparison.Ordinal)
                    && (at + 1 == lines.Length || !lines[at + 1].Contains("Justification", StringComparison.Ordinal));
                if (silenced || suppressed)
                    violations.Add($"{file.Path}:{at + 1} silences a warning without a reason.");
            }
        }
        return violations;
    }

    private static List<string> Lines(IReadOnlyList<SourceFile> files, Func<string, bool> wrong, string sentence) =>
        [.. from file in files
            from line in file.Text.Split('\n').Select((text, at) => (text, at))
            where wrong(line.text)
            select $"{file.Path}:{line.at + 1} {sentence}."];

    [GeneratedRegex(@"\b(TODO|FIXME|HACK|XXX)\b")]
    private static partial Regex Note();

    [GeneratedRegex(@"^\s*#pragma\s+warning\s+disable")]
    private static partial Regex Pragma();

    [GeneratedRegex(@"^\s*\[[^\]]*SuppressMessage\(")]
    private static partial Regex Suppression();
}
