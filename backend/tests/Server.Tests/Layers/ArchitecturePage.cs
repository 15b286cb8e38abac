using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>What <c>docs/architecture.md</c> names: types, folders and files, each between backticks.</summary>
internal static partial class ArchitecturePage
{
    /// <summary>Names of the page that nothing in the repository has.</summary>
    /// <param name="page">Text of the page.</param>
    /// <param name="types">Types of product, tools and tests.</param>
    /// <param name="exists">Whether there is a file or folder of that path, below the root or below <c>backend/src</c>.</param>
    public static IReadOnlyList<string> Unknown(string page, IReadOnlySet<string> types, Func<string, bool> exists) =>
    [
        .. from line in page.Split('\n')
           from match in Name().Matches(line)
           let name = match.Groups["name"].Value
           where !match.Groups["new"].Success && !types.Contains(name) && !exists(name)
           select $"docs/architecture.md names {name}, which is no type, file or folder.",
    ];

    // A name behind a plus sign is one that a coming change brings.
    [GeneratedRegex(@"(?<new>\+ (?:[a-z ]+)?)?`(?<name>[^`]+)`")]
    private static partial Regex Name();
}
