using System.Data.Common;
using System.Text.Json;
using Dapper;

namespace Sluice.Server.Database;

/// <summary>
/// A file next to the blobs that identifies the database they belong to. It is written after the database commits the same values. A clean shutdown adds the
/// database file's length, change counter and write time, so that the next startup can skip the full check.
/// </summary>
/// <remarks>Row numbers only grow, and are recorded after their commit. Lower numbers therefore mean an older copy, even within one run.</remarks>
/// <param name="Id">Random id of the database.</param>
/// <param name="Epoch">Number of the last startup with this database.</param>
internal sealed record BlobGeneration(string Id, long Epoch)
{
    private const int MaxBytes = 4096;

    /// <summary>Row numbers when the file was written; null if an earlier version wrote it.</summary>
    public RowNumbers? Numbers { get; init; }

    /// <summary>State of the closed database; null while the server runs or after a kill.</summary>
    public ClosedDatabase? Closed { get; init; }

    /// <summary>Returns null if the file is missing or is not valid JSON.</summary>
    public static BlobGeneration? Read(DataFolder folder)
    {
        try
        {
            using var file = new FileStream(folder.Generation, FileMode.Open, FileAccess.Read, FileShare.Read);
            var bytes = new byte[MaxBytes];
            var length = file.ReadAtLeast(bytes, MaxBytes, throwOnEndOfStream: false);
            return JsonSerializer.Deserialize(bytes.AsSpan(0, length), DatabaseJson.Default.BlobGeneration) is { Id.Length: > 0, Epoch: >= 0 } found ? found : null;
        }
        catch (Exception e) when (e is FileNotFoundException or JsonException)
        {
            return null;
        }
    }

    /// <summary>Replaces the file durably: the new content is on disk on return.</summary>
    public void Write(DataFolder folder)
    {
        var temporary = folder.Generation + DurableFolder.TemporarySuffix;
        var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using (var file = new FileStream(temporary, options))
        {
            JsonSerializer.Serialize(file, this, DatabaseJson.Default.BlobGeneration);
            PosixCalls.SyncFile(file);
        }

        Failpoint.Reach("start-written");
        File.Move(temporary, folder.Generation, overwrite: true);
        PosixCalls.SyncFolder(folder.Root);
    }
}

/// <summary>The highest row numbers ever assigned. Deleting rows does not lower them.</summary>
/// <remarks>A migration that rebuilds one of these tables must preserve the table's <c>sqlite_sequence</c> number.</remarks>
/// <param name="QueueFile">Number of the last accepted NZB.</param>
/// <param name="HistoryItem">Number of the last history item, including items removed since.</param>
internal sealed record RowNumbers(long QueueFile, long HistoryItem)
{
    public static RowNumbers Read(DbConnection connection) => new(Last(connection, "queue_file"), Last(connection, "history_item"));

    /// <summary>Whether a database with these numbers is an older state than <paramref name="other"/>.</summary>
    public bool AreBelow(RowNumbers other) => QueueFile < other.QueueFile || HistoryItem < other.HistoryItem;

    private static long Last(DbConnection connection, string table) => connection.ExecuteScalar<long?>(SqlDialect.LastNumber(table)) ?? 0;
}

/// <summary>Properties of a database file that are cheap to read and change on every write.</summary>
/// <param name="Length">File length in bytes.</param>
/// <param name="Changes">Change counter in the SQLite header.</param>
/// <param name="WrittenAt">Last write time, in UTC ticks.</param>
/// <param name="CheckedAt">When the last full check passed, in Unix milliseconds; ignored when comparing.</param>
internal sealed record ClosedDatabase(long Length, uint Changes, long WrittenAt, long CheckedAt)
{
    private const int CounterOffset = 24;
    private const int HeaderLength = 100;

    /// <summary>Returns null if the header is incomplete or the write-ahead log still holds pages.</summary>
    public static ClosedDatabase? Inspect(DataFolder folder, DateTimeOffset checkedAt)
    {
        if (new FileInfo(folder.Database + "-wal") is { Exists: true, Length: > 0 })
            return null;
        using var file = new FileStream(folder.Database, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        Span<byte> header = stackalloc byte[HeaderLength];
        if (file.ReadAtLeast(header, HeaderLength, throwOnEndOfStream: false) < HeaderLength)
            return null;
        var changes = System.Buffers.Binary.BinaryPrimitives.ReadUInt32BigEndian(header[CounterOffset..]);
        return new ClosedDatabase(file.Length, changes, File.GetLastWriteTimeUtc(folder.Database).Ticks, checkedAt.ToUnixTimeMilliseconds());
    }

    /// <summary>Whether the other file is probably the same, and unchanged.</summary>
    public bool LooksLike(ClosedDatabase? other) => other is not null && this with { CheckedAt = 0 } == other with { CheckedAt = 0 };
}
