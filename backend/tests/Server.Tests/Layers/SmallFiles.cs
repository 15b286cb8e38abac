using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>
/// Finds files so small that they are a part of another one: of at most thirty lines, and named by one other file alone. Composition
/// is no use: what only a registration names has no other file that it belongs to.
/// </summary>
internal static partial class SmallFiles
{
    public const int Most = 30;

    /// <summary>Files that stand alone by their role, however small: each folder has its registration, its log and its records of settings.</summary>
    private static readonly string[] Roles = ["Registration.cs", "Endpoints.cs", "Log.cs", "Options.cs"];

    private static readonly string[] Composition = ["Registration.cs", "Endpoints.cs", "/Program.cs"];

    /// <summary>Sentences that each name such a file.</summary>
    /// <param name="files">All files of production and tools: each of them may be the one that names another.</param>
    /// <param name="folder">The folder whose files are looked at.</param>
    public static IReadOnlyList<string> Violations(IReadOnlyList<SourceFile> files, string folder)
    {
        var names = files.Where(file => !EndsWithOneOf(file.Path, Composition))
            .ToDictionary(file => file, file => Identifier().Matches(file.Code).Select(match => match.Value).ToHashSet());
        var violations = new List<string>();
        foreach (var file in files.Where(file => IsSmall(file, folder)))
        {
            string[] own = [.. file.Types, .. Extension().Matches(file.Code).Select(match => match.Groups["name"].Value)];
            if (names.Where(other => other.Key != file && own.Any(other.Value.Contains)).ToList() is [var user])
                violations.Add($"{file.Path} has {file.Lines} lines, and only {user.Key.Path} names it: make it a part of that file.");
        }

        return violations;
    }

    private static bool IsSmall(SourceFile file, string folder) =>
        file.Path.StartsWith(folder, StringComparison.Ordinal) && file.Lines <= Most && !EndsWithOneOf(file.Path, Roles);

    private static bool EndsWithOneOf(string path, IEnumerable<string> ends) => ends.Any(end => path.EndsWith(end, StringComparison.Ordinal));

    [GeneratedRegex(@"\b[A-Za-z_]\w*\b")]
    private static partial Regex Identifier();

    [GeneratedRegex(@"\b(?<name>[A-Z]\w*)(?:<[\w, ]+>)?\s*\(\s*this\s")]
    private static partial Regex Extension();
}
