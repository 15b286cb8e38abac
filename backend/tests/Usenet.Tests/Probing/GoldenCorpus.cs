using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Sluice.Testing;

namespace Sluice.Usenet.Tests.Probing;

/// <summary>A case from a table in the folder Golden: its title and its lines.</summary>
internal sealed record GoldenCase(string Title, IReadOnlyList<string> Lines);

/// <summary>Reads the tables of the folder Golden.</summary>
internal static partial class GoldenCorpus
{
    public static IReadOnlyList<GoldenCase> Read(string file)
    {
        var cases = new List<GoldenCase>();
        foreach (var line in File.ReadLines(Repository.PathOf($"backend/tests/Usenet.Tests/Probing/Golden/{file}")))
        {
            if (line.StartsWith("case ", StringComparison.Ordinal))
                cases.Add(new GoldenCase(line["case ".Length..], new List<string>()));
            else if (line.Length > 0 && !line.StartsWith('#'))
                ((List<string>)cases[^1].Lines).Add(Placeholder().Replace(line, Hidden));
        }

        return cases;
    }

    private static string Hidden(Match match)
    {
        var digits = Convert.ToHexStringLower(SHA256.HashData(Encoding.ASCII.GetBytes(match.Value)))[..32];

        // A mix that is not hexadecimal, with more than three changes between letters and digits.
        return match.Value[1] == 'h' ? digits : $"{digits[..4]}x7y8z9w0q1v{match.Value[2]}";
    }

    [GeneratedRegex("<[hm][0-9]>")]
    private static partial Regex Placeholder();
}
