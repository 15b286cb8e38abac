using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>
/// The form of a file that the build does not judge: its encoding, its line ends and the order of its imports. Whitespace is IDE0055 of the
/// build. Both together replace dotnet format in the tests, which loads every project anew for them.
/// </summary>
internal static partial class SourceForm
{
    private static readonly byte[] ByteOrderMark = [0xEF, 0xBB, 0xBF];

    /// <summary>What the bytes of a file have against .editorconfig; empty if nothing.</summary>
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

    /// <summary>Files whose imports are not sorted: namespaces of System first, then the others, then static imports, then aliases.</summary>
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

    // A using that begins a line without a space is an import: those of statements are indented.
    [GeneratedRegex(@"^using (?<name>[^;(]+);", RegexOptions.Multiline)]
    private static partial Regex Import();
}
