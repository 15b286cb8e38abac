using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;
using Microsoft.Win32.SafeHandles;
using Sluice.Server.Database;
using Xunit;

namespace Sluice.Server.Tests.Database;

/// <summary>The database of another program is copied only if no other process has it open (CFG-40).</summary>
public sealed partial class ForeignDatabaseTests : IDisposable
{
    // F_OFD_SETLK: locks of an open file, which conflict even within one process.
    private const int SetOpenFileLock = 37;

    private readonly TemporaryFolder _folder = new();

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public void Dispose() => _folder.Dispose();

    [Theory]
    // The bytes that SQLite locks: one in the shared memory while a connection is open, one far beyond the database during a read.
    [InlineData("-shm", 128)]
    [InlineData("", 0x40000002)]
    public async Task Database_open_in_another_process_is_refused(string suffix, long offset)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Record locks of open files are a feature of Linux.");
        var path = Create();
        using (var other = File.OpenHandle(path + suffix, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.ReadWrite | FileShare.Delete))
        {
            var record = new LockRecord { Start = offset, Length = 1 };
            Assert.Equal(0, FileControl(other, SetOpenFileLock, ref record));

            var refused = await Assert.ThrowsAsync<ForeignDatabaseException>(() => ForeignDatabase.CopyAsync(path, _folder.Folder.Import, Token));

            Assert.Equal("The old server is still running and has its database open. Stop it first.", refused.Message);
            Assert.False(Directory.Exists(_folder.Folder.Import));
        }

        using var copy = await ForeignDatabase.CopyAsync(path, _folder.Folder.Import, Token);
        Assert.Equal("foreign", Query(copy));
    }

    private string Create()
    {
        var path = Path.Combine(_folder.Root, "db.sqlite");
        using var connection = new SqliteConnection($"Data Source={path};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = "CREATE TABLE one (name TEXT); INSERT INTO one VALUES ('foreign')";
        command.ExecuteNonQuery();
        return path;
    }

    private static string? Query(ForeignDatabase database)
    {
        using var command = database.Connection.CreateCommand();
        command.CommandText = "SELECT name FROM one";
        return (string?)command.ExecuteScalar();
    }

    [LibraryImport("libc", EntryPoint = "fcntl", SetLastError = true)]
    private static partial int FileControl(SafeFileHandle file, int command, ref LockRecord record);

    /// <summary>The <c>struct flock</c> of 64-bit Linux; kind 0 is a read lock.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    private struct LockRecord
    {
        [FieldOffset(8)] public long Start;
        [FieldOffset(16)] public long Length;
    }
}
