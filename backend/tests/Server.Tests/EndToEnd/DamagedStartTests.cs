using System.Collections.Concurrent;
using System.Runtime.Versioning;
using Microsoft.Data.Sqlite;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>
/// The built server starts as an unprivileged user on data folders with every kind of damage to one file: each start serves, or explains
/// itself with the right exit code (CFG-13 to CFG-15), no stored NZB is lost, and restored files play.
/// </summary>
[SupportedOSPlatform("linux")]
[Collection(EndToEndRun.Name)]
public sealed class DamagedStartTests
{
    /// <summary>Trait by which <c>tools/test.sh</c> runs these tests separately from the other end-to-end tests.</summary>
    public const string Part = "Starts";

    private const int AtATime = 4;
    private const int PageSize = FolderTemplate.PageSize;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Fact]
    [Trait("Category", EndToEndRun.Name)]
    [Trait("Category", Part)]
    public async Task Startup_on_damaged_data_works_or_explains_and_keeps_all_NZBs()
    {
        await using var mock = await MockServer.StartAsync();
        using var template = await FolderTemplate.CreateAsync(mock, Token);
        var cases = Cases(template).ToList();
        var failures = new ConcurrentQueue<string>();
        var started = System.Diagnostics.Stopwatch.GetTimestamp();

        await Parallel.ForAsync(0, cases.Count, new ParallelOptions { MaxDegreeOfParallelism = AtATime, CancellationToken = Token }, async (i, _) =>
        {
            try
            {
                await cases[i].RunAsync(template, goesOn: i % 4 == 0, Token);
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                failures.Enqueue($"{cases[i].Name}: {e.Message}");
            }
        });

        TestContext.Current.TestOutputHelper!.WriteLine(
            $"{cases.Count} starts over damaged folders{(DamagedFolder.CanFill ? "" : ", none of them on a full disk, which cannot be made here")}, {TimeProvider.System.GetElapsedTime(started).TotalSeconds:F0} s");
        Assert.True(failures.IsEmpty, $"{failures.Count} of {cases.Count} starts:\n{string.Join('\n', failures.Order())}");
        Assert.InRange(cases.Count, 100, 200);
    }

    private static IEnumerable<DamagedStart> Cases(FolderTemplate template)
    {
        // Overwrites a page of the database with noise.
        foreach (var page in template.Pages)
            yield return new($"page {page + 1} overwritten", DamagedStart.SafeOrSound, data => Overwrite(data.Database, page * PageSize, PageSize, page));

        // Flips a bit in the last cell of each index: the structure stays valid, and only a comparison with the table detects the damage.
        foreach (var (name, page) in template.Indices)
            yield return new($"bit flipped in {name}", DamagedStart.SafeOrSound, data => Flip(data.Database, (page * PageSize) - 1));

        foreach (var (name, path) in template.Files)
        {
            yield return new($"{name} emptied", Expect(name, "emptied"), data => File.WriteAllBytes(data.PathOf(path), []));
            yield return new($"{name} absent", Expect(name, "absent"), data => File.Delete(data.PathOf(path)));
            yield return new($"{name} cut in half", Expect(name, "cut"), data => Cut(data.PathOf(path)));
            yield return new($"{name} unreadable", Expect(name, "refused"), data => File.SetUnixFileMode(data.PathOf(path), UnixFileMode.None));
            yield return new($"{name} a folder", Expect(name, "refused"), data => MakeFolder(data.PathOf(path)));
            yield return new($"{name} swapped with a blob", Expect(name, "swapped"), data => Swap(data.PathOf(path), data.PathOf(template.OtherBlob(path))));
            if (Environment.IsPrivilegedProcess)
                yield return new($"{name} of another owner", Expect(name, "refused"), data => data.GiveToRoot(path));
        }

        foreach (var path in (string[])["sluice.db", "sluice.lock"])
            yield return new($"{path} read-only", "exit 78", data => File.SetUnixFileMode(data.PathOf(path), UnixFileMode.UserRead));
        foreach (var path in (string[])["", "blobs", "keys"])
        {
            var name = path.Length == 0 ? "data folder" : path;
            yield return new($"{name} without rights", "exit 78", data => File.SetUnixFileMode(data.PathOf(path), UnixFileMode.None));
            yield return new($"{name} read-only", "exit 78",
                data => File.SetUnixFileMode(data.PathOf(path), UnixFileMode.UserRead | UnixFileMode.UserExecute));
            if (Environment.IsPrivilegedProcess)
                yield return new($"{name} of another owner", "exit 78", data => data.GiveToRoot(path));
        }

        yield return new("blobs empty", "safe", data => Array.ForEach(Directory.GetFiles(data.PathOf("blobs")), File.Delete));
        yield return new("database older", "safe", data => File.WriteAllBytes(data.Database, template.OlderDatabase));
        yield return new("database of another folder", "safe", data => File.WriteAllBytes(data.Database, template.ForeignDatabase));
        yield return new("database with the log of another", DamagedStart.SafeOrSound, data => File.WriteAllBytes(data.Database + "-wal", template.ForeignDatabase));
        yield return new("database with a memory of another", DamagedStart.Serves, data => File.WriteAllBytes(data.Database + "-shm", template.ForeignDatabase));
        yield return new("database of the next version", "exit 78", data => Execute(data.Database, "PRAGMA user_version = 9999"));
        yield return new("database of a negative version", "exit 78", data => Execute(data.Database, "PRAGMA user_version = -1"));
        yield return new("database of a later start", DamagedStart.Serves, data => Execute(data.Database, "UPDATE generation SET epoch = epoch + 9"));
        yield return new("database without a table", "safe", data => Execute(data.Database, "DROP TABLE posted_file"));
        yield return new("database without a column", "safe", data => Execute(data.Database, "ALTER TABLE library_file DROP COLUMN original_name"));
        yield return new("database written in two years", DamagedStart.Serves, data => File.SetLastWriteTimeUtc(data.Database, template.Now.AddYears(2)));
        yield return new("blobs of the year 1980", DamagedStart.Serves, data => Array.ForEach(
            Directory.GetFiles(data.PathOf("blobs")), file => File.SetLastWriteTimeUtc(file, template.Now.AddYears(-46))));
        if (DamagedFolder.CanFill)
        {
            yield return new("disk full", DamagedStart.Serves, data => data.FillDisk(isNew: false));
            yield return new("disk full before the first start", "exit 78", data => data.FillDisk(isNew: true));
        }

        yield return new("folder locked", "exit 75", data => data.Lock());
        yield return new("port taken", "exit 69", data => data.TakePort());
    }

    /// <summary>Returns the outcome of damage to one file: the database matters for all, a blob only for its own release.</summary>
    private static string Expect(string file, string damage) => (file, damage) switch
    {
        ("database", "refused") => "exit 78",
        ("database", _) => "safe",
        ("generation", "refused") => "exit 78",
        ("generation", _) => DamagedStart.Serves,
        ("key", "refused") => "exit 78",
        (_, _) => DamagedStart.Serves,
    };

    private static void Overwrite(string path, long at, int length, int seed)
    {
        var noise = new byte[length];
        new Random(seed).NextBytes(noise);
        using var file = new FileStream(path, FileMode.Open, FileAccess.Write);
        file.Position = at;
        file.Write(noise);
    }

    private static void Flip(string path, long at)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.ReadWrite);
        file.Position = at;
        var value = (byte)file.ReadByte();
        file.Position = at;
        file.WriteByte((byte)(value ^ 1));
    }

    private static void Cut(string path)
    {
        using var file = new FileStream(path, FileMode.Open, FileAccess.Write);
        file.SetLength(file.Length / 2);
    }

    private static void MakeFolder(string path)
    {
        File.Delete(path);
        Directory.CreateDirectory(path);
    }

    private static void Swap(string one, string other)
    {
        var (first, second) = (File.ReadAllBytes(one), File.ReadAllBytes(other));
        File.WriteAllBytes(one, second);
        File.WriteAllBytes(other, first);
    }

    private static void Execute(string database, string sql)
    {
        using var connection = new SqliteConnection($"Data Source={database};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }
}
