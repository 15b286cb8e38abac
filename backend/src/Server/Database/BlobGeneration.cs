using System.Data.Common;
using System.Text.Json;
using Dapper;

namespace Sluice.Server.Database;

/// <summary>
/// Which database the blobs belong to: a file beside them, written after the database's own commit of the same. With a clean stop it
/// also records length, counter and time of the database file, so that the next start need not check all of it.
/// </summary>
/// <remarks>
/// Numbers of rows only grow and are noted after their commit, so a database below them was put in place of a later one, also within one run.
/// </remarks>
/// <param name="Id">Generation of the database.</param>
/// <param name="Epoch">The last start that went on with it.</param>
internal sealed record BlobGeneration(string Id, long Epoch)
{
    private const int MaxBytes = 4096;

    /// <summary>How far the database had come when this was last noted; null in a file of an earlier version.</summary>
    public RowNumbers? Numbers { get; init; }

    /// <summary>The database as it was closed; null while a server runs or after one that was killed.</summary>
    public ClosedDatabase? Closed { get; init; }

    /// <summary>Reads the file.</summary>
    /// <returns>Null when there is none, or none that can be understood.</returns>
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

    /// <summary>Replaces the file; when the call returns the new one is on disk.</summary>
    public void Write(DataFolder folder)
    {
        var temporary = folder.Generation + DurableFolder.TemporarySuffix;
        var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        using (var file = new FileStream(temporary, options))
        {
            JsonSerializer.Serialize(file, this, DatabaseJson.Default.BlobGeneration);
            file.Flush(flushToDisk: true);
        }

        Failpoint.Reach("start-written");
        File.Move(temporary, folder.Generation, overwrite: true);
        PosixCalls.SyncFolder(folder.Root);
    }
}

/// <summary>The highest numbers that rows have ever had; a removal leaves them as they are.</summary>
/// <remarks>A migration that rebuilds one of the tables has to carry its number in <c>sqlite_sequence</c> over.</remarks>
/// <param name="QueueFile">Of the NZBs that were accepted.</param>
/// <param name="HistoryItem">Of the items that ended, or were removed from the history.</param>
internal sealed record RowNumbers(long QueueFile, long HistoryItem)
{
    /// <summary>Reads them.</summary>
    public static RowNumbers Read(DbConnection connection) => new(Last(connection, "queue_file"), Last(connection, "history_item"));

    /// <summary>Whether a database with these numbers is an earlier state of one with the others.</summary>
    public bool AreBelow(RowNumbers other) => QueueFile < other.QueueFile || HistoryItem < other.HistoryItem;

    private static long Last(DbConnection connection, string table) => connection.ExecuteScalar<long?>(SqlDialect.LastNumber(table)) ?? 0;
}

/// <summary>The outer marks of a database file, by which a change is noticed.</summary>
/// <param name="Length">Its bytes.</param>
/// <param name="Changes">The change counter of its header.</param>
/// <param name="WrittenAt">Its last change, in ticks of UTC.</param>
/// <param name="CheckedAt">When all of it was last found sound, in Unix milliseconds; no part of the look.</param>
internal sealed record ClosedDatabase(long Length, uint Changes, long WrittenAt, long CheckedAt)
{
    private const int CounterOffset = 24;
    private const int HeaderLength = 100;

    /// <summary>Looks at the file.</summary>
    /// <returns>Null when there is no whole header, or a log beside the file that was not folded back into it.</returns>
    public static ClosedDatabase? Look(DataFolder folder, DateTimeOffset checkedAt)
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

    /// <summary>Whether a file that looks like this one may be it, unchanged.</summary>
    public bool LooksLike(ClosedDatabase? other) => other is not null && this with { CheckedAt = 0 } == other with { CheckedAt = 0 };
}
