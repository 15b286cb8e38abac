using System.ComponentModel;
using System.Runtime.InteropServices;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>Kinds of faults of a file or folder that Sluice keeps.</summary>
internal enum StorageFault
{
    /// <summary>There is no room; the same call may succeed once there is.</summary>
    Full,

    /// <summary>The user that Sluice runs as may not use it, or the file system is mounted read-only.</summary>
    Denied,

    /// <summary>Anything else that the system reports: a broken disk, a mount that went away, too many open files.</summary>
    Failing,
}

/// <summary>
/// The one exception for faults of storage (CFG-13, F31 to F36): which path, for which user, with which owner, and why. A fault of
/// storage says nothing about an NZB or a release, so none is failed or forgotten for it.
/// </summary>
/// <remarks>The message is one line for the log or for stderr. It names paths, and is therefore never sent to a client.</remarks>
internal sealed class StorageException : IOException
{
    private const int Eperm = 1;
    private const int Eacces = 13;
    private const int Enospc = 28;
    private const int Erofs = 30;
    private const int MaxErrno = 4095;

    // What SQLite needs to open a database of any size: the index of its log.
    private const long OpeningBytes = 64 << 10;

    private StorageException(StorageFault fault, string path, string cause, Exception? inner)
        : base(Sentence(fault, path, cause), inner) => (Fault, Path) = (fault, path);

    /// <summary>The kind of fault.</summary>
    public StorageFault Fault { get; }

    /// <summary>The file or folder.</summary>
    public string Path { get; }

    /// <summary>A volume without enough room.</summary>
    public static StorageException Full(string path, Exception? inner = null) => new(StorageFault.Full, path, "", inner);

    /// <summary>A path of the wrong kind, such as a file in place of a folder.</summary>
    public static StorageException Unusable(string path, string cause) => new(StorageFault.Failing, path, cause, null);

    /// <summary>An error number of the system.</summary>
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

    /// <summary>The fault of storage that an exception stands for.</summary>
    /// <param name="failure">The exception of a call to the system or to SQLite.</param>
    /// <param name="path">The path of the call.</param>
    /// <returns>
    /// Null for any other exception, as for a missing file, whose meaning only the caller knows, and for a damaged database, which is a
    /// case of <see cref="SafeMode"/>.
    /// </returns>
    public static StorageException? From(Exception failure, string path) => failure switch
    {
        StorageException known => known,
        SqliteException sqlite => From(sqlite, path),
        UnauthorizedAccessException => Of(failure.InnerException is IOException { HResult: > 0 and <= MaxErrno } cause ? cause.HResult : Eacces, path, failure),
        DirectoryNotFoundException => new StorageException(StorageFault.Failing, path, "a folder on the way to it is missing", failure),
        FileNotFoundException => null,
        // An error number of the system. Exceptions that no system call has thrown, as for a body that breaks off, have none.
        IOException { HResult: > 0 and <= MaxErrno } => Of(failure.HResult, path, failure),
        IOException when OperatingSystem.IsWindows() => FromWindows(failure, path),
        _ => null,
    };

    private static StorageException? From(SqliteException failure, string path)
    {
        StorageFault? fault = failure.SqliteErrorCode switch
        {
            SQLitePCL.raw.SQLITE_FULL => StorageFault.Full,
            SQLitePCL.raw.SQLITE_READONLY or SQLitePCL.raw.SQLITE_PERM => StorageFault.Denied,
            // Where the log or its index cannot be made, SQLite says no more than that.
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
