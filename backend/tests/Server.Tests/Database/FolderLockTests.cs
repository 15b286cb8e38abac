using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class FolderLockTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Second_folder_lock_is_refused_until_the_first_is_released()
    {
        var first = new FolderLock(_temporary.Folder);
        using var second = new FolderLock(_temporary.Folder);
        first.Take();

        var refused = Assert.Throws<StartRefusedException>(second.Take);
        first.Dispose();

        Assert.Equal(75, refused.ExitCode);
        second.Take();
    }

    [Fact]
    public void Stale_lock_file_does_not_block_the_lock()
    {
        File.WriteAllText(_temporary.Folder.LockFile, "");

        using var folderLock = new FolderLock(_temporary.Folder);
        folderLock.Take();
    }
}
