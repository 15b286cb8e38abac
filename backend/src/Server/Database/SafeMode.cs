using System.Data.Common;
using Microsoft.Data.Sqlite;
using SQLitePCL;

namespace Sluice.Server.Database;

/// <summary>Why nothing may be read from the database nor written to it.</summary>
internal enum SafeModeCause
{
    /// <summary>It is no database, its tables are not those of its version, or SQLite found damage.</summary>
    Damaged,

    /// <summary>It is absent, empty or without any row, and there are stored NZBs.</summary>
    Emptied,

    /// <summary>The stored NZBs belong to another one.</summary>
    Foreign,

    /// <summary>A later start has written one that is not here.</summary>
    Older,

    /// <summary>It refers to more NZBs that are not there than single files get lost.</summary>
    NzbsMissing,
}

/// <summary>
/// Safe mode (CFG-15, DAV-6): once it is on, nothing of the database is read or written until the process ends. Told once in the log.
/// </summary>
/// <remarks>Thread-safe. Only ever switched on.</remarks>
internal sealed class SafeMode(ILogger<SafeMode> logger)
{
    // Boxed cause; written once by the first request, read by every one.
    private object? _cause;

    /// <summary>Whether safe mode is on.</summary>
    public bool IsOn => Volatile.Read(ref _cause) is not null;

    /// <summary>The reason in a sentence without paths, which any client may read; null while safe mode is off.</summary>
    public string? Sentence => Volatile.Read(ref _cause) is SafeModeCause cause
        ? $"Sluice is in safe mode: {Explain(cause)}. Nothing is served, taken or removed meanwhile. Its log says how to go on."
        : null;

    /// <summary>Whether a failure shows damage of the database itself, and not of one query or of the disk for a moment.</summary>
    public static bool IsDamage(SqliteException failure) => failure.SqliteErrorCode is raw.SQLITE_CORRUPT or raw.SQLITE_NOTADB;

    /// <summary>Enters safe mode because of damage, which can only be cured by another file.</summary>
    public void EnterDamaged(string path, string reason)
    {
        if (Enter(SafeModeCause.Damaged))
            DatabaseLog.Damaged(logger, path, reason);
    }

    /// <summary>Enters safe mode because database and blobs do not belong together; the operator may accept the database for the next start.</summary>
    /// <param name="cause">Why.</param>
    /// <param name="detail">The finding, for the log.</param>
    /// <param name="path">The database.</param>
    /// <param name="accept">Value of <c>SLUICE_ACCEPT_DATABASE</c> with which the next start goes on.</param>
    public void EnterUnlessAccepted(SafeModeCause cause, string detail, string path, string accept)
    {
        if (Enter(cause))
            DatabaseLog.NotOfTheseBlobs(logger, Explain(cause), detail, path, accept);
    }

    private bool Enter(SafeModeCause cause) => Interlocked.CompareExchange(ref _cause, cause, null) is null;

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

/// <summary>The database is not used any more, because of <see cref="SafeMode"/>.</summary>
internal sealed class DatabaseLostException()
    : DbException("The database is not used, because Sluice is in safe mode.");
