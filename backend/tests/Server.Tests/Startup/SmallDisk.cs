using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>A folder that is a small file system in memory.</summary>
internal sealed class SmallDisk : IDisposable
{
    private const int Block = 4096;

    private readonly string _path;

    private SmallDisk(string path) => _path = path;

    private string Filler => Path.Combine(_path, "filler");

    /// <summary>Mounts it, or skips the test if that is not allowed.</summary>
    /// <param name="path">An existing folder.</param>
    /// <param name="bytes">Its capacity.</param>
    public static async Task<SmallDisk> MountAsync(string path, int bytes, CancellationToken cancellationToken)
    {
        Unprivileged.Require();
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "only the administrator may mount a small disk");
        var mounted = await ExternalProgram.RunAsync(
            "mount", ["-t", "tmpfs", "-o", $"size={bytes},mode=0700", "tmpfs", path], null, cancellationToken);
        Assert.SkipUnless(mounted.ExitCode == 0, $"a small disk cannot be mounted here: {mounted.Errors.Trim()}");
        Unprivileged.Own(path);
        return new SmallDisk(path);
    }

    /// <summary>Changes its capacity and keeps its files.</summary>
    public async Task ResizeAsync(int bytes, CancellationToken cancellationToken) =>
        (await ExternalProgram.RunAsync("mount", ["-o", $"remount,size={bytes}", _path], null, cancellationToken)).Succeeded();

    /// <summary>Fills it except for some blocks.</summary>
    public void Fill(int freeBlocks = 0)
    {
        using var file = new FileStream(Filler, FileMode.OpenOrCreate, FileAccess.Write, FileShare.None, bufferSize: 0);
        file.Position = file.Length;
        try
        {
            while (true)
                file.Write(new byte[Block]);
        }
        catch (IOException)
        {
            // The disk is full.
        }

        file.SetLength(Math.Max(0, file.Length - (freeBlocks * Block)));
    }

    /// <summary>Frees all of the filled space.</summary>
    public void Free() => File.Delete(Filler);

    public void Dispose()
    {
        using var process = System.Diagnostics.Process.Start("umount", ["-l", _path]);
        process.WaitForExit();
    }
}
