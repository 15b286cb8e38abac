using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// Opens the database once it is proved to belong to the blobs, and writes its generation beside them (F42). Otherwise Sluice enters
/// safe mode, and nothing is written.
/// </summary>
internal sealed class DatabaseOpening(
    DataFolder folder,
    SluiceDatabase database,
    MigrationRunner migrations,
    IEnumerable<BlobReference> references,
    BlobStore blobs,
    SafeMode safeMode,
    ILogger<DatabaseOpening> logger)
{
    private BlobGeneration? _current;

    /// <summary>Looks at database and blobs, and opens the database unless they do not belong together.</summary>
    /// <param name="accept">Value of <c>SLUICE_ACCEPT_DATABASE</c>.</param>
    /// <param name="mayWrite">Writes wait for it, the first of which notes this start.</param>
    /// <returns>Null in safe mode.</returns>
    /// <exception cref="StartRefusedException">The file was written by a newer program.</exception>
    /// <exception cref="StorageException">Database or blobs cannot be used.</exception>
    public OpenedDatabase? Open(string? accept, Task mayWrite)
    {
        try
        {
            return OpenIfOfTheseBlobs(accept, mayWrite);
        }
        catch (Exception e) when (StorageException.From(e, e is SqliteException ? folder.Database : folder.Root) is { } fault)
        {
            throw fault;
        }
    }

    private OpenedDatabase? OpenIfOfTheseBlobs(string? accept, Task mayWrite)
    {
        var beside = BlobGeneration.Read(folder);
        var stored = blobs.ListNzbs();
        // Before the inspection, which makes a log beside the file.
        var checkedAt = UnchangedSince(beside);
        var found = DatabaseInspection.Run(folder.Database, migrations, references, stored);
        var restored = found.Missing.Where(blobs.TryRestore).ToHashSet();
        if (restored.Count > 0)
        {
            DatabaseLog.Restored(logger, restored.Count);
            found = found with { Missing = [.. found.Missing.Where(hash => !restored.Contains(hash))] };
        }

        if (OpeningPolicy.Judge(found, beside, stored.Count) is var (cause, detail))
        {
            var id = IdOf(cause, found, beside);
            if (cause == SafeModeCause.Damaged)
                safeMode.EnterDamaged(folder.Database, detail);
            else if (!id.Equals(accept, StringComparison.OrdinalIgnoreCase))
                safeMode.EnterUnlessAccepted(cause, detail, folder.Database, id);
            else
                DatabaseLog.Accepted(logger, detail);
            if (safeMode.IsOn)
                return null;
            // The rows that a newly accepted database lacks prove nothing about the blobs.
            found = found with { IsEmpty = true };
        }

        if (found.Missing.Count > 0)
            DatabaseLog.Missing(logger, found.Missing.Count);
        database.Open(mayWrite);
        var next = new BlobGeneration(found.Generation?.Id ?? Guid.NewGuid().ToString("N"), Math.Max(found.Generation?.Epoch ?? 0, beside?.Epoch ?? 0) + 1);
        return new OpenedDatabase(MaySweep: !found.IsEmpty, checkedAt, NoteAsync(next, found.Missing));
    }

    /// <summary>Notes beside the blobs how the database was closed. Call it when no connection uses that any more.</summary>
    /// <param name="checkedAt">When all of it was last found sound.</param>
    public void NoteClosed(DateTimeOffset checkedAt)
    {
        if (_current is not null && !safeMode.IsOn)
            WriteBeside(_current with { Closed = ClosedDatabase.Look(folder, checkedAt) });
    }

    private DateTimeOffset? UnchangedSince(BlobGeneration? beside)
    {
        if (beside?.Closed is not { } closed || !File.Exists(folder.Database))
            return null;
        return closed.LooksLike(ClosedDatabase.Look(folder, default)) ? DateTimeOffset.FromUnixTimeMilliseconds(closed.CheckedAt) : null;
    }

    /// <summary>The first transaction of this start; the file beside the blobs never knows of a start that the database does not.</summary>
    private async Task NoteAsync(BlobGeneration next, IReadOnlyList<string> missing)
    {
        await database.WriteAsync(
            connection =>
            {
                connection.Execute("DELETE FROM generation; INSERT INTO generation (id, epoch) VALUES (@Id, @Epoch)", next);
                connection.Execute(
                    """
                    DELETE FROM lost_nzb WHERE hash NOT IN (SELECT value FROM json_each(@missing));
                    INSERT OR IGNORE INTO lost_nzb (hash, epoch) SELECT value, @Epoch FROM json_each(@missing)
                    """,
                    new { missing = SqlDialect.List(missing), next.Epoch });
                return true;
            },
            CancellationToken.None);
        Failpoint.Reach("start-noted");
        _current = next;
        WriteBeside(next);
    }

    private void WriteBeside(BlobGeneration generation)
    {
        try
        {
            generation.Write(folder);
        }
        catch (Exception e) when (StorageException.From(e, folder.Generation) is { } fault)
        {
            // The database is ahead of the file then, which is never taken for an older one.
            DatabaseLog.GenerationNotWritten(logger, folder.Generation, fault.Message);
        }
    }

    /// <summary>A hash over the findings, so that accepting them accepts no later ones.</summary>
    private static string IdOf(SafeModeCause cause, DatabaseInspection found, BlobGeneration? beside)
    {
        var state = string.Create(
            CultureInfo.InvariantCulture,
            $"{cause} {found.Generation?.Id} {found.Generation?.Epoch} {found.Referenced} {found.NewlyMissing} {beside?.Id} {beside?.Epoch}");
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(state)).AsSpan(0, 4));
    }
}

/// <summary>How a database was opened.</summary>
/// <param name="MaySweep">Whether blobs that it does not refer to may be taken for orphans: it was there before this start, and no operator had to accept it.</param>
/// <param name="CheckedAt">When all of it was last found sound, where it was closed cleanly and has not changed since.</param>
/// <param name="Noting">Ends when this start is noted in the database and beside the blobs.</param>
internal sealed record OpenedDatabase(bool MaySweep, DateTimeOffset? CheckedAt, Task Noting);
