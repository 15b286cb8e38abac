using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;
using Microsoft.Data.Sqlite;
using Sluice.Server.Tests.Auth;
using Sluice.Tools.MockNntpServer;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>A complete data folder with three films, which tests of damaged folders copy and restore.</summary>
[SupportedOSPlatform("linux")]
internal sealed partial class FolderTemplate : IDisposable
{
    /// <summary>Id of the unprivileged user that servers run as, if the tests may change the owner of files.</summary>
    private const uint Nobody = 65534;

    /// <summary>Bytes of a database page.</summary>
    public const int PageSize = 4096;

    private const int Films = 3;
    private const int Waiting = 6;

    private readonly ScratchFolder _scratch = new();
    private readonly List<SyntheticFilm> _films = [];
    private readonly Dictionary<string, string> _settings;

    private FolderTemplate(MockServer mock)
    {
        _settings = ProviderSettings.For([.. mock.Ports], "", "");
        _settings["SLUICE_CONFIG__WEBDAV__USER"] = ServerProcess.User;
        _settings["SLUICE_CONFIG__WEBDAV__PASS"] = QuickHash.Of(ServerProcess.Password);
        _settings["SLUICE_CONFIG__API__KEY"] = ServerProcess.ApiKey;
    }

    public string Root => _scratch.File("data");

    public byte[] OlderDatabase { get; private set; } = [];

    public byte[] ForeignDatabase { get; private set; } = [];

    /// <summary>
    /// Database pages to overwrite, counted from 0: all that hold entries, and every third leaf without any. Most tables are empty, and all empty leaves are alike.
    /// </summary>
    public IReadOnlyList<int> Pages
    {
        get
        {
            var database = File.ReadAllBytes(Path.Combine(Root, "sluice.db"));
            var (pages, empty) = (new List<int>(), 0);
            for (var page = 0; page < database.Length / PageSize; page++)
            {
                if (page == 0 || !IsEmptyLeaf(database, page + 1) || empty++ % 3 == 0)
                    pages.Add(page);
            }

            return pages;
        }
    }

    /// <summary>Name and first page, counted from 1, of each index with entries. In an empty page a flipped bit would prove nothing.</summary>
    public IReadOnlyList<(string Name, int Page)> Indices
    {
        get
        {
            using var connection = new SqliteConnection($"Data Source={Path.Combine(Root, "sluice.db")};Mode=ReadOnly;Pooling=False");
            connection.Open();
            using var command = connection.CreateCommand();
            command.CommandText = "SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'";
            using var reader = command.ExecuteReader();
            var found = new List<(string, int)>();
            while (reader.Read())
                found.Add((reader.GetString(0), reader.GetInt32(1)));
            var database = File.ReadAllBytes(Path.Combine(Root, "sluice.db"));
            return [.. found.Where(index => CountCells(database, index.Item2) > 0)];
        }
    }

    // SQLite file format, section 1.6: the first byte of a page is its type, 10 and 13 for the leaves of an index and of a table.
    private static bool IsEmptyLeaf(byte[] database, int page) => database[(page - 1) * PageSize] is 10 or 13 && CountCells(database, page) == 0;

    // SQLite file format, section 1.6: two bytes at offset 3 of a page are its number of cells.
    private static int CountCells(byte[] database, int page) => BinaryPrimitives.ReadUInt16BigEndian(database.AsSpan(((page - 1) * PageSize) + 3));

    public DateTime Now { get; } = TimeProvider.System.GetUtcNow().UtcDateTime;

    /// <summary>Kind and path of each file to damage. The blobs belong to the first film.</summary>
    public IReadOnlyList<(string Name, string Path)> Files
    {
        get
        {
            var nzb = Blobs("*.nzb.br")[0];
            return
            [
                ("database", "sluice.db"), ("generation", "blobs.generation"), ("key", "keys/secret.key"), ("nzb", nzb),
                ("ids", nzb.Replace(".nzb.br", ".ids", StringComparison.Ordinal)),
            ];
        }
    }

    /// <summary>Creates the folder and publishes the films.</summary>
    public static async Task<FolderTemplate> CreateAsync(MockServer mock, CancellationToken cancel)
    {
        var template = new FolderTemplate(mock);
        await template.PublishAsync(template.Root, 1, cancel);
        template.OlderDatabase = File.ReadAllBytes(Path.Combine(template.Root, "sluice.db"));
        await template.PublishAsync(template.Root, Films, cancel);
        await template.PublishAsync(template._scratch.File("other"), 0, cancel);
        template.ForeignDatabase = File.ReadAllBytes(Path.Combine(template._scratch.File("other"), "sluice.db"));
        return template;
    }

    /// <summary>Returns the last stored NZB other than the given one.</summary>
    public string OtherBlob(string path) => Blobs("*.nzb.br").Last(blob => blob != path);

    /// <summary>Starts the server on a folder, as the owner of the folder.</summary>
    public Task<StartedServer> StartAsync(string data, int port, CancellationToken cancel)
    {
        var variables = new Dictionary<string, string>(_settings)
        {
            ["CONFIG_PATH"] = data,
            ["PORT"] = port.ToString(System.Globalization.CultureInfo.InvariantCulture),
            ["BIND_ADDRESS"] = "127.0.0.1",
            ["HOME"] = data,
            // Optimized code does not pay off in a process that is started a hundred times and lives for a second.
            ["DOTNET_TieredPGO"] = "0",
        };
        return Environment.IsPrivilegedProcess
            ? StartedServer.StartAsync("setpriv", [$"--reuid={Nobody}", $"--regid={Nobody}", "--clear-groups", ServerProcess.Executable], variables, cancel)
            : StartedServer.StartAsync(ServerProcess.Executable, [], variables, cancel);
    }

    /// <summary>Fails unless every film of the folder reads back as posted.</summary>
    public async Task AssertPlayAsync(StartedServer server, int first, CancellationToken cancel)
    {
        using var client = new SluiceClient(server.Port, ServerProcess.User, ServerProcess.Password, ServerProcess.ApiKey);
        foreach (var film in _films.Skip(first))
            film.AssertEqual(0, await client.GetAsync(film.Path, cancel));
    }

    /// <summary>Copies the whole folder with modes and times, and makes the user the owner.</summary>
    public void CopyTo(string data)
    {
        Copy(new DirectoryInfo(Root), data);
        Own(data);
    }

    /// <summary>Makes the user that servers run as the owner of a folder and its contents.</summary>
    public static void Own(string path) => ChangeOwner(path, Environment.IsPrivilegedProcess ? Nobody : null);

    /// <summary>Makes root the owner of a file or folder, without permissions for others.</summary>
    public static void GiveToRoot(string path)
    {
        Assert.Equal(0, LChown(path, 0, 0));
        File.SetUnixFileMode(path, Directory.Exists(path)
            ? UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute
            : UnixFileMode.UserRead | UnixFileMode.UserWrite);
    }

    /// <summary>Mounts a small disk over a folder.</summary>
    /// <returns>Whether the tests may mount here.</returns>
    public static bool TryMount(string path) => Mount("tmpfs", path, "tmpfs", 0, "size=4m,mode=0755") == 0;

    public static void Unmount(string path) => Assert.Equal(0, Umount(path, 0));

    public void Dispose() => _scratch.Dispose();

    private string[] Blobs(string pattern) =>
        [.. Directory.GetFiles(Path.Combine(Root, "blobs"), pattern).OrderBy(File.GetLastWriteTimeUtc).Select(path => Path.GetRelativePath(Root, path))];

    private async Task PublishAsync(string data, int upTo, CancellationToken cancel)
    {
        Directory.CreateDirectory(data);
        File.SetUnixFileMode(_scratch.Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.OtherExecute | UnixFileMode.GroupExecute);
        Own(data);
        await using var server = await StartAsync(data, 0, cancel);
        await server.SettledAsync(cancel);
        using var client = new SluiceClient(server.Port, ServerProcess.User, ServerProcess.Password, ServerProcess.ApiKey);
        while (_films.Count < upTo)
        {
            _films.Add(new SyntheticFilm((ulong)(31 + _films.Count), 150_000, 50_000));
            await _films[^1].PublishAsync(client, cancel);
        }

        // Adds a waiting queue too, so that a folder without blobs lacks more NZBs than the start tolerates.
        for (var i = 0; upTo == Films && i < Waiting; i++)
            await client.AddFileAsync("movies&priority=-2", $"waiting-{i}", new SyntheticFilm((ulong)(61 + i), 150_000, 50_000).Nzb, cancel);

        Assert.Equal(0, await server.StopAsync(cancel));
    }

    private static void Copy(DirectoryInfo from, string to)
    {
        Directory.CreateDirectory(to, from.UnixFileMode);
        foreach (var file in from.GetFiles())
            file.CopyTo(Path.Combine(to, file.Name), overwrite: true);
        foreach (var folder in from.GetDirectories())
            Copy(folder, Path.Combine(to, folder.Name));
    }

    private static void ChangeOwner(string path, uint? user)
    {
        if (user is not { } id)
            return;
        Assert.Equal(0, LChown(path, id, id));
        if (!Directory.Exists(path))
            return;
        foreach (var entry in Directory.GetFileSystemEntries(path, "*", SearchOption.AllDirectories))
            Assert.Equal(0, LChown(entry, id, id));
    }

    [LibraryImport("libc", EntryPoint = "mount", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Mount(string source, string target, string type, nuint flags, string data);

    [LibraryImport("libc", EntryPoint = "umount2", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int Umount(string target, int flags);

    [LibraryImport("libc", EntryPoint = "lchown", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    private static partial int LChown(string path, uint user, uint group);
}
