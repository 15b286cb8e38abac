using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>
/// Checks the form of a file that the build does not check: encoding, line ends and order of imports. The build checks whitespace by
/// IDE0055. Together they replace dotnet format, which would load every project again.
/// </summary>
internal static partial class SourceForm
{
    private static readonly byte[] ByteOrderMark = [0xEF, 0xBB, 0xBF];

    /// <summary>Returns violations of .editorconfig in the bytes of a file; empty if there is none.</summary>
    public static IReadOnlyList<string> Violations(string path, ReadOnlySpan<byte> bytes)
    {
        var violations = new List<string>();
        if (bytes.StartsWith(ByteOrderMark))
            violations.Add($"{path} begins with a byte order mark.");
        if (bytes.Contains((byte)'\r'))
            violations.Add($"{path} has a carriage return.");
        if (!bytes.EndsWith("\n"u8) || bytes.EndsWith("\n\n"u8))
            violations.Add($"{path} does not end with one line feed.");
        return violations;
    }

    /// <summary>Finds unsorted imports. The order is System, other namespaces, static imports, aliases.</summary>
    public static IReadOnlyList<string> UnsortedImports(IReadOnlyList<SourceFile> files) =>
    [
        .. from file in files
           let imports = Import().Matches(file.Code).Select(match => match.Groups["name"].Value).ToList()
           from pair in imports.Zip(imports.Skip(1))
           where Compare(pair.First, pair.Second) > 0
           select $"{file.Path} imports {pair.First} before {pair.Second}.",
    ];

    private static int Compare(string first, string second)
    {
        var groups = Group(first).CompareTo(Group(second));
        return groups != 0 ? groups : Parts(first).Zip(Parts(second)).Select(pair => string.Compare(pair.First, pair.Second, StringComparison.OrdinalIgnoreCase))
            .Append(Parts(first).Length.CompareTo(Parts(second).Length)).First(order => order != 0 || first == second);
    }

    private static int Group(string import) => import switch
    {
        _ when import.Contains('=', StringComparison.Ordinal) => 3,
        _ when import.StartsWith("static ", StringComparison.Ordinal) => 2,
        _ when import == "System" || import.StartsWith("System.", StringComparison.Ordinal) => 0,
        _ => 1,
    };

    private static string[] Parts(string import) => import.Split('.', ' ');

    // A using at the start of a line is an import, because using statements are indented.
    [GeneratedRegex(@"^using (?<name>[^;(]+);", RegexOptions.Multiline)]
    private static partial Regex Import();
}
