using System.Text.Json;
using System.Text.Json.Serialization;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.FamilyImport;

/// <summary>A started import. While it runs, the end is null and the report covers only settings.</summary>
internal sealed record BegunImport(DateTimeOffset StartedAt, DateTimeOffset? FinishedAt, ImportReport Report)
{
    /// <summary>Whether this version's import code started or repaired the import.</summary>
    public bool IsHealed { get; init; }
}

/// <summary>Stores the import's state and report in <c>family_import</c>.</summary>
internal sealed class FamilyImportStore(SluiceDatabase database)
{
    /// <summary>Returns the import; null if none was ever started.</summary>
    public Task<BegunImport?> FindAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => connection.QuerySingleOrDefault<Row>("SELECT started_at AS StartedAt, finished_at AS FinishedAt, report AS Report, healed AS Healed FROM family_import") is { } row
                ? new BegunImport(
                    StoredTime.Read(row.StartedAt),
                    row.FinishedAt is { } finished ? StoredTime.Read(finished) : null,
                    JsonSerializer.Deserialize(row.Report, ImportJson.Default.ImportReport) ?? ImportReport.Nothing)
                {
                    IsHealed = row.Healed != 0,
                }
                : null,
            cancellationToken);

    /// <summary>Whether library, history and queue are still empty, so that an import cannot conflict with anything.</summary>
    public Task<bool> IsFreshAsync(CancellationToken cancellationToken) =>
        database.ReadAsync(
            connection => !connection.ExecuteScalar<bool>(
                "SELECT EXISTS (SELECT 1 FROM release) OR EXISTS (SELECT 1 FROM history_item) OR EXISTS (SELECT 1 FROM queue_item)"),
            cancellationToken);

    /// <summary>Records the start of an import and the report on its saved settings. From then on, every startup resumes the import.</summary>
    public Task BeginAsync(DateTimeOffset at, ImportReport report, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "INSERT INTO family_import (id, started_at, report, healed) VALUES (1, @at, @report, 1) ON CONFLICT (id) DO NOTHING",
                new { at = at.ToUnixTimeMilliseconds(), report = Write(report) }),
            cancellationToken);

    public Task FinishAsync(DateTimeOffset at, ImportReport report, CancellationToken cancellationToken) =>
        database.WriteAsync(
            connection => connection.Execute(
                "UPDATE family_import SET finished_at = @at, report = @report, healed = 1", new { at = at.ToUnixTimeMilliseconds(), report = Write(report) }),
            cancellationToken);

    private static string Write(ImportReport report) => JsonSerializer.Serialize(report, ImportJson.Default.ImportReport);

    internal sealed record Row(long StartedAt, long? FinishedAt, string Report, long Healed);
}

[JsonSerializable(typeof(ImportReport))]
internal sealed partial class ImportJson : JsonSerializerContext;
