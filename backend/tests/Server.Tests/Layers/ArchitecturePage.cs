using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>Checks the names in <c>docs/architecture.md</c>: types, folders and files, each between backticks.</summary>
internal static partial class ArchitecturePage
{
    /// <summary>Names of the page that do not exist in the repository.</summary>
    /// <param name="page">Text of the page.</param>
    /// <param name="types">Types of the product, the tools and the tests.</param>
    /// <param name="exists">Whether a file or folder with this path exists below the root or below <c>backend/src</c>.</param>
    public static IReadOnlyList<string> Unknown(string page, IReadOnlySet<string> types, Func<string, bool> exists) =>
    [
        .. from line in page.Split('\n')
           from match in Name().Matches(line)
           let name = match.Groups["name"].Value
           where !match.Groups["new"].Success && !types.Contains(name) && !exists(name)
           select $"docs/architecture.md names {name}, which is no type, file or folder.",
    ];

    // A plus sign before a name announces it for a coming change.
    [GeneratedRegex(@"(?<new>\+ (?:[a-z ]+)?)?`(?<name>[^`]+)`")]
    private static partial Regex Name();
}
