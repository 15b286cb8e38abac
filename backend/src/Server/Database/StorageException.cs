using System.ComponentModel;
using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

internal enum StorageFault
{
    /// <summary>The disk is full; a retry may succeed later.</summary>
    Full,

    /// <summary>Permission is denied to Sluice's user, or the file system is read-only.</summary>
    Denied,

    /// <summary>Any other error, such as a broken disk, a lost mount, or too many open files.</summary>
    Failing,
}

/// <summary>
/// The only exception for storage errors (CFG-13, F31 to F36). It names the path, its owner, the current user and the cause. It never causes an NZB or release
/// to fail or be removed, because a storage error says nothing about their content.
/// </summary>
/// <remarks>The message is one line for the log or stderr. It contains paths, so it must not reach clients.</remarks>
internal sealed class StorageException : IOException
{
    private const int Eperm = 1;
    private const int Eacces = 13;
    private const int Enospc = 28;
    private const int Erofs = 30;
    private const int MaxErrno = 4095;

    // SQLite needs this much free space to open any database, because it creates the log index.
    private const long OpeningBytes = 64 << 10;

    private StorageException(StorageFault fault, string path, string cause, Exception? inner)
        : base(Sentence(fault, path, cause), inner) => (Fault, Path) = (fault, path);

    public StorageFault Fault { get; }

    public string Path { get; }

    public static StorageException Full(string path, Exception? inner = null) => new(StorageFault.Full, path, "", inner);

    /// <summary>Creates the exception for a path of the wrong kind, such as a file instead of a folder.</summary>
    public static StorageException Unusable(string path, string cause) => new(StorageFault.Failing, path, cause, null);

    /// <summary>Maps a system error number.</summary>
    public static StorageException Of(int errno, string path, Exception? inner = null)
    {
        var fault = errno switch
        {
            _ when errno == Enospc || errno == (OperatingSystem.IsMacOS() ? 69 : 122) => StorageFault.Full,
            Eperm or Eacces or Erofs => StorageFault.Denied,
            _ => StorageFault.Failing,
        };
        return new StorageException(fault, path, Marshal.GetPInvokeErrorMessage(errno), inner);
    }

    /// <summary>Maps an exception to a storage error.</summary>
    /// <param name="failure">The exception of a system call or of SQLite.</param>
    /// <returns>Null for any other exception. Null for a missing file, because only the caller knows what that means. Null for a corrupt database, because <see
    /// cref="SafeMode"/> handles it.</returns>
    public static StorageException? From(Exception failure, string path) => failure switch
    {
        StorageException known => known,
        SqliteException sqlite => From(sqlite, path),
        UnauthorizedAccessException => Of(failure.InnerException is IOException { HResult: > 0 and <= MaxErrno } cause ? cause.HResult : Eacces, path, failure),
        DirectoryNotFoundException => new StorageException(StorageFault.Failing, path, "a folder on the way to it is missing", failure),
        FileNotFoundException => null,
        // HResult holds the error number of a system call. Other exceptions have none, for example for an incomplete request body.
        IOException { HResult: > 0 and <= MaxErrno } => Of(failure.HResult, path, failure),
        IOException when OperatingSystem.IsWindows() => FromWindows(failure, path),
        _ => null,
    };

    private static StorageException? From(SqliteException failure, string path)
    {
        // A copy through SQLite fails with an extended code, whose last byte is the code.
        StorageFault? fault = (failure.SqliteErrorCode & 0xFF) switch
        {
            SQLitePCL.raw.SQLITE_FULL => StorageFault.Full,
            SQLitePCL.raw.SQLITE_READONLY or SQLitePCL.raw.SQLITE_PERM => StorageFault.Denied,
            // SQLite gives no detail if it cannot create the log or its index.
            SQLitePCL.raw.SQLITE_IOERR or SQLitePCL.raw.SQLITE_CANTOPEN =>
                IsFull(path) ? StorageFault.Full : PosixCalls.FindObstacle(path, write: true) == 0 ? StorageFault.Failing : StorageFault.Denied,
            SQLitePCL.raw.SQLITE_BUSY or SQLitePCL.raw.SQLITE_LOCKED or SQLitePCL.raw.SQLITE_PROTOCOL or SQLitePCL.raw.SQLITE_NOLFS => StorageFault.Failing,
            _ => null,
        };
        return fault is { } known ? new StorageException(known, path, failure.Message, failure) : null;
    }

    private static StorageException? FromWindows(Exception failure, string path)
    {
        const int win32 = unchecked((int)0x8007_0000);
        if ((failure.HResult & unchecked((int)0xFFFF_0000)) != win32)
            return null;
        var code = failure.HResult & 0xFFFF;
        // ERROR_WRITE_PROTECT, ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
        var fault = code is 39 or 112 ? StorageFault.Full : code is 19 ? StorageFault.Denied : StorageFault.Failing;
        return new StorageException(fault, path, new Win32Exception(code).Message, failure);
    }

    private static bool IsFull(string path)
    {
        try
        {
            return new DriveInfo(System.IO.Path.GetDirectoryName(path) ?? path).AvailableFreeSpace < OpeningBytes;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return false;
        }
    }

    private static string Sentence(StorageFault fault, string path, string cause) => fault switch
    {
        StorageFault.Full => $"the disk of {path} is full",
        StorageFault.Denied => $"{path} is not readable and writable by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(path)}: {cause}",
        _ => $"{path} cannot be used by uid {PosixCalls.EffectiveUser()}{PosixCalls.DescribeOwner(path)}: {cause}",
    };
}
