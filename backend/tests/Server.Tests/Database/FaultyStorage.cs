using System.Globalization;
using Microsoft.Data.Sqlite;
using Sluice.Server.Database;
using SQLitePCL;

namespace Sluice.Server.Tests.Database;

/// <summary>The real file system and database, whose n-th step fails. Steps are calls that change files, and commits.</summary>
internal sealed class FaultyStorage : IBlobFiles, ICommitStep
{
    private readonly DiskBlobFiles _disk = new();
    private int _steps;

    /// <summary>Whether the step has been reached.</summary>
    public bool HasFailed => FailAt > 0 && Volatile.Read(ref _steps) >= FailAt;

    /// <summary>The step that fails, counted from 1; 0 for none.</summary>
    public int FailAt { get; init; }

    /// <summary>The error number of the failing step: 28 for a full disk, 5 for a failing one.</summary>
    public int Errno { get; init; } = 28;

    /// <summary>The SQLite code with which all commits fail; null for none.</summary>
    public int? CommitCode { get; set; }

    public void Run(SqliteWork transaction)
    {
        if (CommitCode is { } code)
            throw new SqliteException("the disk of the test", code);
        if (IsNext())
            throw new SqliteException("database or disk is full", raw.SQLITE_FULL);
        transaction.Commit();
    }

    public Stream Create(string path)
    {
        Step();
        return _disk.Create(path);
    }

    public void SyncFile(Stream file)
    {
        Step();
        _disk.SyncFile(file);
    }

    public void SyncFiles(string folder, IReadOnlyCollection<string> files)
    {
        Step();
        _disk.SyncFiles(folder, files);
    }

    public void Rename(string from, string to)
    {
        Step();
        _disk.Rename(from, to);
    }

    public void SyncFolder(string path)
    {
        Step();
        _disk.SyncFolder(path);
    }

    public FileStream OpenRead(string path) => _disk.OpenRead(path);

    public void Delete(string path)
    {
        Step();
        _disk.Delete(path);
    }

    public IEnumerable<FileInfo> List(string folder) => _disk.List(folder);

    public long FreeBytes(string folder) => _disk.FreeBytes(folder);

    private void Step()
    {
        if (IsNext())
            throw new IOException(string.Create(CultureInfo.InvariantCulture, $"The disk of the test fails at step {FailAt}"), Errno);
    }

    private bool IsNext() => Interlocked.Increment(ref _steps) == FailAt;
}
