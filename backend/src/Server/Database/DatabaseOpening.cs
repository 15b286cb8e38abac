using System.Data.Common;
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
using Dapper;
using Microsoft.Data.Sqlite;

namespace Sluice.Server.Database;

/// <summary>
/// Opens the database after verifying that it belongs to the blobs, and records its generation next to them (F42). If they do not match, Sluice enters
/// safe mode and writes nothing.
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
    // Held while the file is being replaced, because shutdown stops waiting for workers at its deadline.
    private readonly Lock _writing = new();
    private BlobGeneration? _current;
    private Task? _noting;

    /// <summary>Inspects the database and the blobs, and opens the database if they match. Returns null in safe mode.</summary>
    /// <param name="accept">Value of <c>SLUICE_ACCEPT_DATABASE</c>.</param>
    /// <param name="mayWrite">Writes wait for this task. The first write records this startup.</param>
    /// <exception cref="StartRefusedException">A newer program wrote the file.</exception>
    /// <exception cref="StorageException">The database or the blobs cannot be used.</exception>
    public OpenedDatabase? Open(string? accept, Task mayWrite)
    {
        try
        {
            return OpenIfMatching(accept, mayWrite);
        }
        catch (Exception e) when (StorageException.From(e, e is SqliteException ? folder.Database : folder.Root) is { } fault)
        {
            throw fault;
        }
    }

    private OpenedDatabase? OpenIfMatching(string? accept, Task mayWrite)
    {
        var beside = BlobGeneration.Read(folder);
        var stored = blobs.ListNzbs();
        // Check before the inspection, because opening the database creates a log file.
        var checkedAt = UnchangedSince(beside);
        var found = DatabaseInspection.Run(folder.Database, migrations, references, stored);
        var restored = found.Missing.Where(blobs.TryRestore).ToHashSet();
        if (restored.Count > 0)
        {
            DatabaseLog.Restored(logger, restored.Count);
            found = found with { Missing = [.. found.Missing.Where(hash => !restored.Contains(hash))] };
        }

        IReadOnlyCollection<UInt128> kept = [];
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
            // An accepted database may lack the rows of existing blobs, so keep those blobs forever.
            kept = found.Unreferenced;
            found = found with { IsEmpty = true };
        }

        if (found.Missing.Count > 0)
            DatabaseLog.Missing(logger, found.Missing.Count);
        database.Open(mayWrite);
        var next = new BlobGeneration(found.Generation?.Id ?? Guid.NewGuid().ToString("N"), Math.Max(found.Generation?.Epoch ?? 0, beside?.Epoch ?? 0) + 1);
        _noting = NoteAsync(next, found.Missing, kept);
        return new OpenedDatabase(MaySweep: !found.IsEmpty, checkedAt, _noting);
    }

    /// <summary>Records the current row numbers next to the blobs, after this startup itself is recorded. Thread-safe.</summary>
    public async Task NoteNumbersAsync(CancellationToken cancellationToken)
    {
        if (_noting is null || !database.IsOpen)
            return;
        try
        {
            await _noting.WaitAsync(cancellationToken);
            var numbers = await database.ReadAsync(RowNumbers.Read, cancellationToken);
            lock (_writing)
            {
                // Another call may have recorded higher numbers or the closed state in the meantime.
                if (_current!.Numbers!.AreBelow(numbers))
                    WriteBeside(_current = _current with { Numbers = numbers });
            }
        }
        catch (DatabaseLostException)
        {
            // Do not change the file in safe mode.
        }
        catch (Exception e) when (StorageException.From(e, folder.Database) is { } fault)
        {
            // Harmless: the file only lags behind the database, and a newer database is never mistaken for an older copy.
            DatabaseLog.GenerationNotWritten(logger, folder.Generation, fault.Message);
        }
    }

    /// <summary>Records next to the blobs that the database is closed. Call only after all connections are closed.</summary>
    public void NoteClosed(DateTimeOffset checkedAt)
    {
        lock (_writing)
        {
            if (_current is not null && !safeMode.IsOn)
                WriteBeside(_current with { Closed = ClosedDatabase.Inspect(folder, checkedAt) });
        }
    }

    private DateTimeOffset? UnchangedSince(BlobGeneration? beside)
    {
        if (beside?.Closed is not { } closed || !File.Exists(folder.Database))
            return null;
        return closed.LooksLike(ClosedDatabase.Inspect(folder, default)) ? DateTimeOffset.FromUnixTimeMilliseconds(closed.CheckedAt) : null;
    }

    /// <summary>Records this startup first in the database, then in the file, because the file must never be ahead of the database.</summary>
    private async Task NoteAsync(BlobGeneration next, IReadOnlyList<string> missing, IReadOnlyCollection<UInt128> kept)
    {
        var numbers = await database.WriteAsync(
            connection =>
            {
                connection.Execute("DELETE FROM generation; INSERT INTO generation (id, epoch) VALUES (@Id, @Epoch)", next);
                connection.Execute(
                    """
                    DELETE FROM lost_nzb WHERE hash NOT IN (SELECT value FROM json_each(@missing));
                    INSERT OR IGNORE INTO lost_nzb (hash, epoch) SELECT value, @Epoch FROM json_each(@missing)
                    """,
                    new { missing = SqlDialect.List(missing), next.Epoch });
                KeptNzbs.Add(connection, kept);
                return RowNumbers.Read(connection);
            },
            CancellationToken.None);
        Failpoint.Reach("start-noted");
        lock (_writing)
            WriteBeside(_current = next with { Numbers = numbers });
    }

    private void WriteBeside(BlobGeneration generation)
    {
        try
        {
            generation.Write(folder);
        }
        catch (Exception e) when (StorageException.From(e, folder.Generation) is { } fault)
        {
            // Harmless: the file only lags behind the database, and a newer database is never mistaken for an older copy.
            DatabaseLog.GenerationNotWritten(logger, folder.Generation, fault.Message);
        }
    }

    /// <summary>A hash of the findings, so that the operator's acceptance does not extend to later findings.</summary>
    private static string IdOf(SafeModeCause cause, DatabaseInspection found, BlobGeneration? beside)
    {
        var state = string.Create(
            CultureInfo.InvariantCulture,
            $"{cause} {found.Generation?.Id} {found.Generation?.Epoch} {found.Referenced} {found.NewlyMissing} {beside?.Id} {beside?.Epoch} {found.Numbers} {beside?.Numbers}");
        return Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(state)).AsSpan(0, 4));
    }
}

/// <summary>Reads and writes <c>kept_nzb</c>: stored NZBs for which an accepted database has no rows.</summary>
internal static class KeptNzbs
{
    private const string KeyFormat = "x32";

    /// <summary>Exempts NZBs from the orphan sweep forever. The keys come from <see cref="BlobStore.KeyOf"/>.</summary>
    public static void Add(DbConnection connection, IReadOnlyCollection<UInt128> keys)
    {
        if (keys.Count == 0)
            return;
        List<string> hashes = [.. keys.Select(key => key.ToString(KeyFormat, CultureInfo.InvariantCulture))];
        connection.Execute("INSERT OR IGNORE INTO kept_nzb (hash) SELECT value FROM json_each(@hashes)", new { hashes = SqlDialect.List(hashes) });
    }

    public static IEnumerable<UInt128> Read(DbConnection connection) =>
        connection.Query<string>("SELECT hash FROM kept_nzb", buffered: false).Select(hash => UInt128.Parse(hash, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture));
}

/// <summary>The result of opening a database.</summary>
/// <param name="MaySweep">Whether unreferenced blobs count as orphans. False for a new database, and for one that the operator had to accept.</param>
/// <param name="CheckedAt">When the last full check passed; null if the file was not closed cleanly or has since changed.</param>
/// <param name="Noting">Completes once this startup is recorded in the database and next to the blobs.</param>
internal sealed record OpenedDatabase(bool MaySweep, DateTimeOffset? CheckedAt, Task Noting);
