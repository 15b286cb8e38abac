using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

public sealed class FolderLockTests : IDisposable
{
    private readonly TemporaryFolder _temporary = new();

    public void Dispose() => _temporary.Dispose();

    [Fact]
    public void Second_lock_of_a_folder_is_refused_until_the_first_is_released()
    {
        var first = FolderLock.Take(_temporary.Folder);

        var refused = Assert.Throws<StartRefusedException>(() => FolderLock.Take(_temporary.Folder));
        first.Dispose();

        Assert.Equal(75, refused.ExitCode);
        FolderLock.Take(_temporary.Folder).Dispose();
    }

    [Fact]
    public void Lock_file_left_by_a_dead_process_stops_nobody()
    {
        File.WriteAllText(_temporary.Folder.LockFile, "");

        FolderLock.Take(_temporary.Folder).Dispose();
    }
}
