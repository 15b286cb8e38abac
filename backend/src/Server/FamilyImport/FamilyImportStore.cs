using System.Text.Json;
using System.Text.Json.Serialization;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.FamilyImport;

/// <summary>An import that has begun.</summary>
/// <param name="StartedAt">When.</param>
/// <param name="FinishedAt">When it ended; null where it is to go on.</param>
/// <param name="Report">What came of it; as long as it goes on, of its settings.</param>
internal sealed record BegunImport(DateTimeOffset StartedAt, DateTimeOffset? FinishedAt, ImportReport Report);

/// <summary>Reads and writes <c>family_import</c>: whether an import has begun, and what came of it.</summary>
internal sealed class FamilyImportStore(SluiceDatabase database)
{
    /// <summary>The import; null where none has begun.</summary>
    public Task<BegunImport?> FindAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<Row>("SELECT started_at AS StartedAt, finished_at AS FinishedAt, report AS Report FROM family_import") is { } row
                ? new BegunImport(
                    StoredTime.Read(row.StartedAt),
                    row.FinishedAt is { } finished ? StoredTime.Read(finished) : null,
                    JsonSerializer.Deserialize(row.Report, ImportJson.Default.ImportReport) ?? ImportReport.Nothing)
                : null,
            cancellationToken);

    /// <summary>Whether the server has nothing of its own yet, so that an import can bring it everything.</summary>
    public Task<bool> IsFreshAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => !connection.ExecuteScalar<bool>(
                "SELECT EXISTS (SELECT 1 FROM release) OR EXISTS (SELECT 1 FROM history_item) OR EXISTS (SELECT 1 FROM queue_item)"),
            cancellationToken);

    /// <summary>Notes that an import has begun; from here on it goes on with every start until it has ended.</summary>
    /// <param name="at">When.</param>
    /// <param name="report">What came of its settings, which are saved by now.</param>
    /// <param name="cancellationToken">Counts until the transaction begins.</param>
    public Task BeginAsync(DateTimeOffset at, ImportReport report, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "INSERT INTO family_import (id, started_at, report) VALUES (1, @at, @report) ON CONFLICT (id) DO NOTHING",
                new { at = at.ToUnixTimeMilliseconds(), report = Write(report) }),
            cancellationToken);

    /// <summary>Notes that it has ended.</summary>
    public Task FinishAsync(DateTimeOffset at, ImportReport report, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE family_import SET finished_at = @at, report = @report", new { at = at.ToUnixTimeMilliseconds(), report = Write(report) }),
            cancellationToken);

    private static string Write(ImportReport report) => JsonSerializer.Serialize(report, ImportJson.Default.ImportReport);

    internal sealed record Row(long StartedAt, long? FinishedAt, string Report);
}

/// <summary>How a report stands in the database, generated at build.</summary>
[JsonSerializable(typeof(ImportReport))]
internal sealed partial class ImportJson : JsonSerializerContext;
