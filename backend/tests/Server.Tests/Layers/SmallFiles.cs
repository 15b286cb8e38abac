using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>
/// Finds files that belong into another one: of at most thirty lines, and used by only one other file. Registrations and endpoints do not
/// count as users, because a file that only they name has no other file to belong to.
/// </summary>
internal static partial class SmallFiles
{
    public const int Most = 30;

    /// <summary>Files that are separate by role, however small: the registration, the endpoints, the log and the options of a folder.</summary>
    private static readonly string[] Roles = ["Registration.cs", "Endpoints.cs", "Log.cs", "Options.cs"];

    private static readonly string[] Composition = ["Registration.cs", "Endpoints.cs", "/Program.cs"];

    /// <summary>Returns one sentence per file.</summary>
    /// <param name="files">All files of the product and the tools, because each of them may use another.</param>
    /// <param name="folder">The folder whose files are checked.</param>
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
