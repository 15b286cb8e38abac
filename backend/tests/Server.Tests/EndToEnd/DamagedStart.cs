using System.Net;
using System.Net.Sockets;
using System.Runtime.Versioning;
using System.Security.Cryptography;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>One way to damage a data folder, and what a start over it has to come to.</summary>
/// <param name="Name">The damage, in words.</param>
/// <param name="Expected">What <see cref="StartedServer.SettledAsync"/> has to say, or <see cref="SafeOrSound"/>.</param>
/// <param name="Damage">Does it.</param>
[SupportedOSPlatform("linux")]
internal sealed record DamagedStart(string Name, string Expected, Action<DamagedFolder> Damage)
{
    public const string Serves = "serves";

    /// <summary>Damage that may be harmless, as in a page that is not in use; then everything has to play.</summary>
    public const string SafeOrSound = "safe or sound";

    /// <summary>Damages a copy of the folder, starts over it, and checks the outcome and the stored NZBs.</summary>
    /// <param name="template">The folder as it should be.</param>
    /// <param name="goesOn">Whether the damage is undone and another start made.</param>
    /// <param name="cancel">Gives up.</param>
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

/// <summary>A copy of the folder of a template that a test damages.</summary>
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

    /// <summary>Where the server is to listen; 0 for any port.</summary>
    public int Port { get; private set; }

    public string PathOf(string path) => Path.Combine(Root, path);

    public void GiveToRoot(string path) => _ofRoot.Add(PathOf(path));

    /// <summary>Holds the lock that a running server holds.</summary>
    public void Lock() => _lock = new FileStream(PathOf("sluice.lock"), FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);

    /// <summary>Whether disks can be made that are full.</summary>
    public static bool CanFill { get; } = FindCanFill();

    /// <summary>Puts the folder, or an empty one, on a disk without a free byte.</summary>
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
            // Not one more block fits.
        }
    }

    /// <summary>Listens where the server is to listen.</summary>
    public void TakePort()
    {
        _listener = new TcpListener(IPAddress.Loopback, 0);
        _listener.Start();
        Port = ((IPEndPoint)_listener.LocalEndpoint).Port;
    }

    /// <summary>Gives every file to the user of the server, except those that are to be the administrator's.</summary>
    public void Hand()
    {
        FolderTemplate.Own(Root);
        _ofRoot.ForEach(FolderTemplate.GiveToRoot);
    }

    /// <summary>Closes the held files, and makes all files accessible again.</summary>
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

    /// <summary>The stored NZBs, by the content of the files.</summary>
    public HashSet<string> StoredBlobs() =>
    [
        .. new[] { "blobs", "quarantine" }.Select(PathOf).Where(Directory.Exists)
            .SelectMany(folder => Directory.GetFiles(folder, "*.nzb.br", SearchOption.AllDirectories))
            .Select(path => Convert.ToHexStringLower(SHA256.HashData(File.ReadAllBytes(path)))),
    ];

    /// <summary>Undoes the damage.</summary>
    /// <param name="hasServed">A database that was gone on with stays, with what says which one it is.</param>
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
