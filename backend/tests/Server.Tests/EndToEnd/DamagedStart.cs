using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;
using System.Security.Cryptography;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>One way to damage a data folder, and the expected outcome of the next start.</summary>
/// <param name="Name">The damage, in words.</param>
/// <param name="Expected">The expected result of <see cref="StartedServer.SettledAsync"/>, or <see cref="SafeOrSound"/>.</param>
/// <param name="Damage">Damages the folder.</param>
[SupportedOSPlatform("linux")]
internal sealed record DamagedStart(string Name, string Expected, Action<DamagedFolder> Damage)
{
    public const string Serves = "serves";

    /// <summary>Outcome of damage that may be harmless, as in an unused page; unless safe mode is entered, everything must play.</summary>
    public const string SafeOrSound = "safe or sound";

    /// <summary>Damages a copy of the folder, starts the server on it, and checks the outcome and the stored NZBs.</summary>
    /// <param name="template">The undamaged folder.</param>
    /// <param name="goesOn">Whether to undo the damage and start again.</param>
    /// <param name="cancel">Cancels the run.</param>
    public async Task RunAsync(FolderTemplate template, bool goesOn, CancellationToken cancel)
    {
        using var folder = new DamagedFolder(template);
        Damage(folder);
        folder.Hand();
        var stored = folder.StoredBlobs();

        string outcome;
        await using (var server = await template.StartAsync(folder.Root, folder.Port, cancel))
        {
            outcome = await server.SettledAsync(cancel);
            Assert.True(outcome == Expected || (Expected == SafeOrSound && outcome is "safe" or Serves),
                $"came to \"{outcome}\" instead of \"{Expected}\": {string.Join(" | ", server.Errors)}");
            if (outcome == Serves)
                await template.AssertPlayAsync(server, first: Expected == SafeOrSound ? 0 : 1, cancel);
            if (outcome.StartsWith("exit", StringComparison.Ordinal))
                Assert.Matches("^sluice: [^\n]+$", Assert.Single(server.Errors));
            else
                Assert.Equal(0, await server.StopAsync(cancel));
        }

        folder.Release();
        Assert.Superset(stored, folder.StoredBlobs());
        if (!goesOn)
            return;
        folder.PutBack(outcome == Serves);
        await using var again = await template.StartAsync(folder.Root, 0, cancel);
        Assert.Equal(Serves, await again.SettledAsync(cancel));
        await template.AssertPlayAsync(again, first: 0, cancel);
    }
}

/// <summary>A copy of the folder of a template, for a test to damage.</summary>
[SupportedOSPlatform("linux")]
internal sealed class DamagedFolder : IDisposable
{
    private readonly FolderTemplate _template;
    private readonly ScratchFolder _scratch = new();
    private readonly List<string> _ofRoot = [];
    private bool _isMounted;
    private FileStream? _lock;
    private TcpListener? _listener;

    public DamagedFolder(FolderTemplate template)
    {
        _template = template;
        File.SetUnixFileMode(_scratch.Path, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute | UnixFileMode.OtherExecute | UnixFileMode.GroupExecute);
        template.CopyTo(Root);
    }

    private string Filler => PathOf("filler");

    public string Root => _scratch.File("data");

    public string Database => PathOf("sluice.db");

    /// <summary>Port for the server; 0 for any port.</summary>
    public int Port { get; private set; }

    public string PathOf(string path) => Path.Combine(Root, path);

    public void GiveToRoot(string path) => _ofRoot.Add(PathOf(path));

    /// <summary>Takes the lock file of a running server.</summary>
    public void Lock() => _lock = new FileStream(PathOf("sluice.lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);

    /// <summary>Whether the tests can create a full disk.</summary>
    public static bool CanFill { get; } = FindCanFill();

    /// <summary>Moves the folder, or an empty one, to a disk without a free byte.</summary>
    public void FillDisk(bool isNew)
    {
        _isMounted = FolderTemplate.TryMount(Root);
        Assert.True(_isMounted);
        if (!isNew)
            _template.CopyTo(Root);
        using var filler = new FileStream(Filler, FileMode.CreateNew, FileAccess.Write, FileShare.None, bufferSize: 0);
        var block = new byte[4096];
        try
        {
            while (true)
                filler.Write(block);
        }
        catch (IOException)
        {
            // The disk has no room for another block.
        }
    }

    /// <summary>Occupies the port of the server.</summary>
    public void TakePort()
    {
        _listener = new TcpListener(IPAddress.Loopback, 0);
        _listener.Start();
        Port = ((IPEndPoint)_listener.LocalEndpoint).Port;
    }

    /// <summary>Makes the user of the server the owner of every file, except the files meant for root.</summary>
    public void Hand()
    {
        FolderTemplate.Own(Root);
        _ofRoot.ForEach(FolderTemplate.GiveToRoot);
    }

    /// <summary>Closes the held files and makes all folders accessible again.</summary>
    public void Release()
    {
        _lock?.Dispose();
        File.Delete(Filler);
        _listener?.Dispose();
        foreach (var path in (string[])["", "blobs", "keys"])
        {
            if (Directory.Exists(PathOf(path)))
                File.SetUnixFileMode(PathOf(path), UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }
    }

    /// <summary>Returns the hashes of all stored NZB files.</summary>
    public HashSet<string> StoredBlobs() =>
    [
        .. new[] { "blobs", "quarantine" }.Select(PathOf).Where(Directory.Exists)
            .SelectMany(folder => Directory.GetFiles(folder, "*.nzb.br", SearchOption.AllDirectories))
            .Select(path => Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(path)))),
    ];

    /// <summary>Undoes the damage.</summary>
    /// <param name="hasServed">Whether to keep the database and its generation file, because the server has written to them.</param>
    public void PutBack(bool hasServed)
    {
        var (database, generation) = hasServed ? (File.ReadAllBytes(Database), File.ReadAllBytes(PathOf("blobs.generation"))) : ([], []);
        foreach (var (_, path) in _template.Files.Where(file => Directory.Exists(PathOf(file.Path))))
            Directory.Delete(PathOf(path), recursive: true);
        foreach (var suffix in (string[])["-wal", "-shm"])
            File.Delete(Database + suffix);
        _template.CopyTo(Root);
        if (hasServed)
        {
            File.WriteAllBytes(Database, database);
            File.WriteAllBytes(PathOf("blobs.generation"), generation);
        }

        FolderTemplate.Own(Root);
    }

    private static bool FindCanFill()
    {
        using var scratch = new ScratchFolder();
        if (!FolderTemplate.TryMount(scratch.Path))
            return false;
        FolderTemplate.Unmount(scratch.Path);
        return true;
    }

    public void Dispose()
    {
        Release();
        if (_isMounted)
            FolderTemplate.Unmount(Root);
        _scratch.Dispose();
    }
}
