using System.Data.Common;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>Why the database must not be used.</summary>
internal enum SafeModeCause
{
    /// <summary>The file is not a database, lacks tables of its version, or SQLite found corruption.</summary>
    Damaged,

    /// <summary>NZBs are stored, but the database is missing, empty, or has no rows.</summary>
    Emptied,

    /// <summary>The stored NZBs belong to a different database.</summary>
    Foreign,

    /// <summary>The database is an older copy: a later startup used a newer database.</summary>
    Older,

    /// <summary>More referenced NZBs are missing than the limit allows.</summary>
    NzbsMissing,
}

/// <summary>Safe mode (CFG-15, DAV-6): the database is not used again until a restart. Logged once. Thread-safe.</summary>
internal sealed class SafeMode(ILogger<SafeMode> logger)
{
    private readonly TaskCompletionSource _entered = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // A boxed SafeModeCause, because compare-and-swap needs a reference.
    private object? _cause;

    /// <summary>Completes when safe mode is entered.</summary>
    public Task Entered => _entered.Task;

    public bool IsOn => Volatile.Read(ref _cause) is not null;

    /// <summary>The reason as a sentence; null while safe mode is off. Contains no paths, because any client may read it.</summary>
    public string? Sentence => Volatile.Read(ref _cause) is SafeModeCause cause
        ? $"Sluice is in safe mode: {Explain(cause)}. Nothing is served, taken or removed meanwhile. Open /rescue in a browser to restore a backup, or read its log."
        : null;

    /// <summary>Whether an error proves that the file is corrupt, rather than that a query or the disk failed.</summary>
    public static bool IsDamage(SqliteException failure) => failure.SqliteErrorCode is raw.SQLITE_CORRUPT or raw.SQLITE_NOTADB;

    /// <summary>Enters safe mode because the file is corrupt. The operator must replace it and restart.</summary>
    public void EnterDamaged(string path, string reason)
    {
        if (Enter(SafeModeCause.Damaged))
            DatabaseLog.Damaged(logger, path, reason);
    }

    /// <summary>Enters safe mode because the database and the blobs do not match. The operator may accept the mismatch at the next startup.</summary>
    public void EnterUnlessAccepted(SafeModeCause cause, string detail, string path, string accept)
    {
        if (Enter(cause))
            DatabaseLog.Mismatched(logger, Explain(cause), detail, path, accept);
    }

    private bool Enter(SafeModeCause cause)
    {
        if (Interlocked.CompareExchange(ref _cause, cause, null) is not null)
            return false;
        _entered.SetResult();
        return true;
    }

    private static string Explain(SafeModeCause cause) => cause switch
    {
        SafeModeCause.Damaged => "its database is damaged",
        SafeModeCause.Emptied => "its database is empty, but there are stored NZBs",
        SafeModeCause.Foreign => "the stored NZBs belong to another database than the one that is there",
        SafeModeCause.Older => "its database is older than the stored NZBs",
        SafeModeCause.NzbsMissing => "many of the NZBs that its database refers to are missing",
        _ => throw new ArgumentOutOfRangeException(nameof(cause), cause, null),
    };
}

/// <summary>Thrown instead of accessing the database in <see cref="SafeMode"/>.</summary>
internal sealed class DatabaseLostException()
    : DbException("The database is not used, because Sluice is in safe mode.");
