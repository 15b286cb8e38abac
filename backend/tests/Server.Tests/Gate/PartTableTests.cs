using System.Text.RegularExpressions;
using Sluice.Server.Tests.Layers;
using Sluice.Testing;
using Xunit;

namespace Sluice.Server.Tests.Gate;

/// <summary>The table of long test parts in <c>tools/parts.sh</c>.</summary>
public sealed partial class PartTableTests
{
    private const int MostMinutes = 4;

    // Build output.
    private static readonly string[] Made = ["bin", "obj", "node_modules", "wwwroot"];
    private static readonly string[] FoldersOfRooms = ["backend/src/Server", "backend/src/Usenet", "tools"];

    [Fact]
    public async Task Every_folder_has_a_row()
    {
        var table = await PartScript.OfThisCopy.TableAsync();
        var lacking = Rooms().Where(room => !PartsOf(room, table).Any());
        Assert.Empty(lacking);
    }

    [Fact]
    public async Task Test_parts_of_each_folder_take_at_most_four_minutes()
    {
        var table = await PartScript.OfThisCopy.TableAsync();
        var slow = Rooms().Where(room => PartsOf(room, table).Sum(row => row.Minutes) > MostMinutes);
        Assert.Empty(slow);
    }

    [Fact]
    public async Task Every_path_in_the_table_exists()
    {
        var table = await PartScript.OfThisCopy.TableAsync();
        var files = Files().ToList();
        var missing = table.SelectMany(row => row.Paths).Where(path => !files.Exists(Pattern(path).IsMatch));
        Assert.Empty(missing);
    }

    [Fact]
    public async Task Each_test_part_has_a_duration_and_one_row()
    {
        var table = await PartScript.OfThisCopy.TableAsync();
        Assert.Equal(["archive", "browser-long", "chaos", "clients", "image", "kills", "ships", "soak", "starts"], table.Select(row => row.Name).Order());
        Assert.All(table, row => Assert.InRange(row.Minutes, 1, 6));
    }

    [Fact]
    public async Task Files_with_JSON_or_native_calls_belong_to_the_shipped_part()
    {
        var ships = (await PartScript.OfThisCopy.TableAsync()).Single(row => row.Name == "ships").Paths.Select(Pattern).ToList();
        var files = SourceTree.Product().Where(file => file.Path.StartsWith("backend/src/", StringComparison.Ordinal) && NeedsShippedForm().IsMatch(file.Text));
        Assert.Empty(files.Where(file => !ships.Exists(path => path.IsMatch(file.Path))).Select(file => file.Path));
    }

    /// <summary>Returns the parts for all files of a room: rows with the room or a folder above it. Single files may have more.</summary>
    private static IEnumerable<PartRow> PartsOf(string room, IEnumerable<PartRow> table) =>
        table.Where(row => row.Paths.Any(path => $"{room}/".StartsWith($"{path}/", StringComparison.Ordinal)));

    private static IEnumerable<string> Rooms() =>
        FoldersOfRooms
            .SelectMany(folder => Directory.GetDirectories(Repository.PathOf(folder)).Select(room => $"{folder}/{Path.GetFileName(room)}"))
            .Where(room => !Made.Contains(Path.GetFileName(room)))
            .Append("frontend")
            .Append("docker");

    private static IEnumerable<string> Files() =>
        new DirectoryInfo(Repository.Root).EnumerateFileSystemInfos()
            .Where(entry => entry.Name is not (".git" or "artifacts" or "data"))
            .SelectMany(entry => entry is DirectoryInfo folder ? FilesIn(folder) : [(FileInfo)entry])
            .Select(file => Path.GetRelativePath(Repository.Root, file.FullName).Replace('\\', '/'));

    private static IEnumerable<FileInfo> FilesIn(DirectoryInfo folder) =>
        Made.Contains(folder.Name) ? [] : folder.EnumerateFiles().Concat(folder.EnumerateDirectories().SelectMany(FilesIn));

    /// <summary>Returns a path of the table as matched by git: the file itself, or all files in the folder.</summary>
    private static Regex Pattern(string path) =>
        new($"^{Regex.Escape(path).Replace(@"\*\*/", "(.*/)?", StringComparison.Ordinal).Replace(@"\*", "[^/]*", StringComparison.Ordinal)}(/.*)?$", RegexOptions.CultureInvariant);

    [GeneratedRegex(@"\bJsonSerializerContext\b|\[LibraryImport\(|\[DllImport\(")]
    private static partial Regex NeedsShippedForm();
}
