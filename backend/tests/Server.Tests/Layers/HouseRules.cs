using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>Rules for single lines that the compiler does not know.</summary>
internal static partial class HouseRules
{
    private const int MaxTestName = 60;

    /// <summary>Finds notes to oneself, because missing work belongs into the plan and not into the product.</summary>
    public static IReadOnlyList<string> Notes(IReadOnlyList<SourceFile> files) =>
        Lines(files, line => Note().IsMatch(line), "holds a note to oneself");

    /// <summary>Finds tests whose names are too long for a list.</summary>
    public static IReadOnlyList<string> LongTestNames(IReadOnlyList<SourceFile> files) =>
    [
        .. from file in files
           from test in TestMethod().Matches(file.Text)
           let name = test.Groups["name"].Value
           where name.Length > MaxTestName
           select $"{file.Path}: {name} has {name.Length} characters of {MaxTestName}.",
    ];

    /// <summary>Finds types that a lock in another file guards, because a lock and its guarded state are one idea.</summary>
    public static IReadOnlyList<string> GuardedElsewhere(IReadOnlyList<SourceFile> files) =>
        [.. from file in files
            where Guarded().IsMatch(file.Text) && !file.Words.Contains("Lock")
            select $"{file.Path} is guarded by a lock of another file."];

    /// <summary>Finds silenced warnings without a reason in the line or the line above.</summary>
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

    /// <summary>Finds uses of an API outside the only file or folder that may use it.</summary>
    /// <param name="files">All files; only files of the product are checked.</param>
    /// <param name="use">Pattern of a use.</param>
    /// <param name="user">The allowed file, or the allowed folder with a slash at its end; empty if none is.</param>
    /// <param name="inStrings">Whether strings and comments are checked too.</param>
    public static IReadOnlyList<string> Uses(IReadOnlyList<SourceFile> files, Regex use, string user, bool inStrings = false) =>
        [.. from file in files
            where file.Path.StartsWith("backend/src/", StringComparison.Ordinal) && !IsOrIsIn(file.Path, user) && use.IsMatch(inStrings ? file.Text : file.Code)
            select user.Length == 0 ? $"{file.Path} does what no file may." : $"{file.Path} goes around {user}."];

    /// <summary>
    /// Finds Dapper calls with a sequence of rows that hold bytes, because Dapper's generator skips them. A row is recognized by its name and
    /// the byte array in its declaration.
    /// </summary>
    public static IReadOnlyList<string> RowsOfBytes(IReadOnlyList<SourceFile> files)
    {
        var rows = files.SelectMany(file => ByteRow().Matches(file.Code)).Select(match => match.Groups["name"].Value).ToHashSet();
        return
        [
            .. from file in files
               from Match call in ManyRows().Matches(file.Code)
               from row in rows
               where Regex.IsMatch(call.Value, $@"\b{row}\b")
               select $"{file.Path} hands Dapper many of {row}, which holds bytes: write them one by one.",
        ];
    }

    private static bool IsOrIsIn(string path, string user) =>
        user.EndsWith('/') ? path.StartsWith(user, StringComparison.Ordinal) : path == user;

    /// <summary>The time of day, which may be changed at any moment. Durations and deadlines must use the timestamp.</summary>
    [GeneratedRegex(@"\bGetUtcNow\b")]
    public static partial Regex TimeOfDay();

    /// <summary>Unicode normalization, which throws for invalid text.</summary>
    [GeneratedRegex(@"\.\s*(Normalize|IsNormalized)\s*\(")]
    public static partial Regex UnicodeForm();

    /// <summary>Classes and SQL of the database engine. Stores use only features that all engines have.</summary>
    [GeneratedRegex(@"\b(Microsoft\.Data\.Sqlite|SQLitePCL|Sqlite[A-Z]\w*|json_each|json_group_array|rowid|sqlite_\w+|PRAGMA)\b")]
    public static partial Regex Engine();

    /// <summary>JSON of a type that is inspected at runtime instead of at build time.</summary>
    [GeneratedRegex(@"\bJsonSerializer\s*\.\s*\w+(<[^(]*>)?\((?![^;]*\w+Json\.Default\.)")]
    public static partial Regex ReflectedJson();

    /// <summary>Rows or parameters that Dapper's generator does not support: untyped, dynamic or of a private type.</summary>
    [GeneratedRegex(@"\bDynamicParameters\b|\.\s*Query\w*\(|\bprivate\s+sealed\s+record\s+\w*Row\b|\.\s*(Query|Execute)\w*<\(")]
    public static partial Regex ReflectedRows();

    private static List<string> Lines(IReadOnlyList<SourceFile> files, Func<string, bool> wrong, string sentence) =>
        [.. from file in files
            from line in file.Text.Split('\n').Select((text, at) => (text, at))
            where wrong(line.text)
            select $"{file.Path}:{line.at + 1} {sentence}."];

    [GeneratedRegex(@"^    \[(?:Fact|Theory)\b.*\n(?:    \[.*\n|    //.*\n)*    \w+ (?:static )?(?:async )?[\w<>]+ (?<name>\w+)\(", RegexOptions.Multiline)]
    private static partial Regex TestMethod();

    [GeneratedRegex(@"\b(TODO|FIXME|HACK|XXX)\b")]
    private static partial Regex Note();

    [GeneratedRegex(@"\brecord\s+(?<name>\w+Row)\b(?:(?!\brecord\b)[\s\S])*?\bbyte\s*\[\]")]
    private static partial Regex ByteRow();

    [GeneratedRegex(@"\.\s*Execute\w*\([^;]*\.\s*Select\([^;]*;")]
    private static partial Regex ManyRows();

    [GeneratedRegex(@"//.*\bguarded by the (lock|gate) of\b", RegexOptions.IgnoreCase)]
    private static partial Regex Guarded();

    [GeneratedRegex(@"^\s*#pragma\s+warning\s+disable")]
    private static partial Regex Pragma();

    [GeneratedRegex(@"^\s*\[[^\]]*SuppressMessage\(")]
    private static partial Regex Suppression();
}
