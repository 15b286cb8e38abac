using System.Text.RegularExpressions;

namespace Sluice.Server.Tests.Layers;

/// <summary>The section "What a byte meets" of <c>docs/architecture.md</c>: the classes that a byte passes in the engine, and their files.</summary>
internal static partial class ByteRoad
{
    private const string Engine = "backend/src/Usenet/";

    // Files in these rooms count if a class of the road names them. Files at the root of both folders are shared types, not steps.
    private static readonly string[] Rooms = [Engine + "Nntp/", Engine + "Streams/"];

    /// <summary>The classes in the order in which a byte passes them, starting at the socket of the news server.</summary>
    public static IReadOnlyList<string> ClassesOf(string page) =>
        [.. Step().Matches(SectionOf(page)).Select(match => match.Groups["name"].Value)];

    /// <summary>The block of files on the page, one room per line.</summary>
    public static string FilesOf(string page) => Block().Match(SectionOf(page)).Groups["files"].Value;

    /// <summary>
    /// The files from the stream to the socket of the news server: files of the classes in the engine, and files in the rooms of
    /// <c>Nntp</c> and <c>Streams</c> that a class names.
    /// </summary>
    /// <param name="classes">The classes of the road.</param>
    /// <param name="files">All files of the product.</param>
    public static IReadOnlyList<SourceFile> Files(IReadOnlyList<string> classes, IReadOnlyList<SourceFile> files)
    {
        var own = files.Where(file => file.Path.StartsWith(Engine, StringComparison.Ordinal) && file.Types.Any(classes.Contains)).ToList();
        var named = files.Where(file => IsInRoom(file.Path) && own.Any(user => Sees(user, file) && file.Types.Any(type => user.Words.Contains(type) && IsUsed(type, user))));
        return [.. own.Union(named)];
    }

    /// <summary>Formats the files as on the page: each room with its sorted files, in lines of at most 120 characters.</summary>
    public static string Draw(IEnumerable<SourceFile> files)
    {
        var rooms = files
            .Select(file => file.Path[Engine.Length..^".cs".Length])
            .GroupBy(path => path[..path.LastIndexOf('/')], path => path[(path.LastIndexOf('/') + 1)..])
            .OrderBy(room => room.Key, StringComparer.Ordinal);
        var lines = new List<string>();
        foreach (var room in rooms)
        {
            lines.Add(room.Key.PadRight(18));
            foreach (var name in room.Order(StringComparer.Ordinal))
            {
                if (lines[^1].Length + name.Length >= 120)
                    lines.Add(new string(' ', 18));
                lines[^1] += lines[^1].EndsWith(' ') ? name : " " + name;
            }
        }

        return string.Join('\n', lines) + "\n";
    }

    private static string SectionOf(string page) =>
        page.Split("\n## ").FirstOrDefault(section => section.StartsWith("What a byte meets\n", StringComparison.Ordinal)) ?? "";

    private static bool IsInRoom(string path) =>
        Array.Exists(Rooms, room => path.StartsWith(room, StringComparison.Ordinal) && path[room.Length..].Contains('/'));

    /// <summary>Whether one file can name the types of another without a namespace: it shares or imports the namespace.</summary>
    private static bool Sees(SourceFile user, SourceFile file)
    {
        var folder = FolderOf(file.Path);
        return FolderOf(user.Path).StartsWith(folder, StringComparison.Ordinal)
            || user.Code.Contains($"using Sluice.Usenet.{folder[Engine.Length..^1].Replace('/', '.')};", StringComparison.Ordinal);
    }

    /// <summary>Whether the file uses the type, and not only a property with its name.</summary>
    private static bool IsUsed(string type, SourceFile user) => Regex.IsMatch(
        user.Code,
        $@"(?<![\w.]){type}(?:[.(<\[?]|\s+(?!(?:is|as|and|or|in|when|with|switch)\b)[A-Za-z_@])|(?:\b(?:new|is|as|not|case)\s+|[:<]\s*|\btypeof\(){type}\b");

    private static string FolderOf(string path) => path[..(path.LastIndexOf('/') + 1)];

    [GeneratedRegex(@"^\d+\. `(?<name>\w+)`", RegexOptions.Multiline)]
    private static partial Regex Step();

    [GeneratedRegex(@"```text\n(?<files>[^`]*)```")]
    private static partial Regex Block();
}
