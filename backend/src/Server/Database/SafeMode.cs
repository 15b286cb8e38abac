using System.Data.Common;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>Why the database must not be used.</summary>
internal enum SafeModeCause
{
    /// <summary>The file is not a database, lacks tables of its version, or SQLite found corruption.</summary>
    Damaged,

    /// <summary>The database is missing, empty or without rows, although NZBs are stored.</summary>
    Emptied,

    /// <summary>The stored NZBs belong to another database.</summary>
    Foreign,

    /// <summary>The database is an older copy: a later start used a newer one.</summary>
    Older,

    /// <summary>More referenced NZBs are missing than chance explains.</summary>
    NzbsMissing,
}

/// <summary>Safe mode (CFG-15, DAV-6): once on, the database is neither read nor written until the process ends. Logged once. Thread-safe.</summary>
internal sealed class SafeMode(ILogger<SafeMode> logger)
{
    private readonly TaskCompletionSource _entered = new(TaskCreationOptions.RunContinuationsAsynchronously);

    // A boxed SafeModeCause, so that one compare-and-swap sets it. Every request reads it.
    private object? _cause;

    /// <summary>Completes when safe mode begins.</summary>
    public Task Entered => _entered.Task;

    public bool IsOn => Volatile.Read(ref _cause) is not null;

    /// <summary>The reason as a sentence that any client may read, so it contains no paths; null while safe mode is off.</summary>
    public string? Sentence => Volatile.Read(ref _cause) is SafeModeCause cause
        ? $"Sluice is in safe mode: {Explain(cause)}. Nothing is served, taken or removed meanwhile. Open /rescue in a browser to restore a backup, or read its log."
        : null;

    /// <summary>Whether a failure proves that the file is corrupt, rather than that one query or the disk failed.</summary>
    public static bool IsDamage(SqliteException failure) => failure.SqliteErrorCode is raw.SQLITE_CORRUPT or raw.SQLITE_NOTADB;

    /// <summary>Enters safe mode because the file is corrupt. The operator must replace it and restart.</summary>
    public void EnterDamaged(string path, string reason)
    {
        if (Enter(SafeModeCause.Damaged))
            DatabaseLog.Damaged(logger, path, reason);
    }

    /// <summary>Enters safe mode because database and blobs do not match. The operator may accept the database at the next start.</summary>
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

/// <summary>Thrown instead of using the database in <see cref="SafeMode"/>.</summary>
internal sealed class DatabaseLostException()
    : DbException("The database is not used, because Sluice is in safe mode.");
