using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.FamilyImport;

namespace Sluice.Server.AdminApi;

/// <summary>How far the import of an old server is.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ImportState>))]
internal enum ImportState
{
    /// <summary>There is nothing to import.</summary>
    None,

    /// <summary>What there is is being counted.</summary>
    Looking,

    /// <summary>It is counted, and nothing is taken yet.</summary>
    Found,

    /// <summary>It is being taken.</summary>
    Running,

    /// <summary>All is taken.</summary>
    Finished,

    /// <summary>Something went wrong; it can be begun again.</summary>
    Failed,
}

/// <summary>How an old database keeps what files are made of.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ImportShape>))]
internal enum ImportShape
{
    /// <summary>JSON in columns.</summary>
    JsonColumns,

    /// <summary>Compressed JSON in columns.</summary>
    CompressedColumns,

    /// <summary>Files among its blobs.</summary>
    BlobFiles,
}

/// <summary>What can be imported.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ImportedKind>))]
internal enum ImportedKind
{
    /// <summary>Saved values.</summary>
    Settings,

    /// <summary>Logins of the administrator.</summary>
    Logins,

    /// <summary>Files of the library.</summary>
    Files,

    /// <summary>Items of the history.</summary>
    History,

    /// <summary>Items of the queue.</summary>
    Queue,

    /// <summary>NZBs that the old server has kept.</summary>
    Nzbs,
}

/// <summary>How many there are of a kind.</summary>
/// <param name="Kind">The kind.</param>
/// <param name="Found">How many the old server has; always the sum of the others.</param>
/// <param name="Taken">How many are taken over.</param>
/// <param name="Left">How many are not.</param>
internal sealed record ImportedCount(ImportedKind Kind, int Found, int Taken, int Left);

/// <summary>Something that is not taken over.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Name">What it is called.</param>
/// <param name="Reason">Why not, as a part of a sentence.</param>
internal sealed record ImportedLeft(ImportedKind Kind, string Name, string Reason);

/// <summary>The import of an old server.</summary>
/// <param name="State">How far it is.</param>
/// <param name="Source">The old database; null for none.</param>
/// <param name="Shape">How it keeps what files are made of; null until the first look.</param>
/// <param name="Progress">The share that is done, 0 to 1.</param>
/// <param name="Error">What went wrong, as a sentence; null for nothing.</param>
/// <param name="StartedAt">When it began; null where it has not.</param>
/// <param name="FinishedAt">When it ended; null where it has not.</param>
/// <param name="Counts">One for each kind; empty until the first look.</param>
/// <param name="Left">What is not taken over, at most a thousand.</param>
/// <param name="LeftTotal">How many that are in all.</param>
/// <param name="Notes">What is taken over in another form, one sentence each, at most a thousand.</param>
/// <param name="NotesTotal">How many that are in all.</param>
/// <param name="Kept">Keys without a counterpart, which are kept without effect.</param>
internal sealed record FamilyImportReport(
    ImportState State,
    string? Source,
    ImportShape? Shape,
    double Progress,
    string? Error,
    DateTimeOffset? StartedAt,
    DateTimeOffset? FinishedAt,
    IReadOnlyList<ImportedCount> Counts,
    IReadOnlyList<ImportedLeft> Left,
    int LeftTotal,
    IReadOnlyList<string> Notes,
    int NotesTotal,
    IReadOnlyList<string> Kept);

/// <summary><c>/api/setup/import</c>: the library of an old server in the data folder (CFG-40).</summary>
internal static class ImportResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapImport(this RouteGroupBuilder api)
    {
        api.MapGet("/setup/import", Show).WithName("ShowImport");
        api.MapPost("/setup/import", Begin).WithName("BeginImport");
    }

    /// <summary>How far it is; the first call begins to count what there is.</summary>
    private static Ok<FamilyImportReport> Show(FamilyImportWorker import) => TypedResults.Ok(Shape(import.Show()));

    private static Results<Accepted<FamilyImportReport>, JsonHttpResult<Problem>> Begin(FamilyImportWorker import) => import.TryBegin()
        ? TypedResults.Accepted((string?)null, Shape(import.Show()))
        : AdminProblem.WrongState("There is nothing to import, or it was done before.");

    private static FamilyImportReport Shape(ImportView view) => new(
        view.Stage switch
        {
            ImportStage.None => ImportState.None,
            ImportStage.Offered or ImportStage.Looking => ImportState.Looking,
            ImportStage.Found => ImportState.Found,
            ImportStage.Running => ImportState.Running,
            ImportStage.Finished => ImportState.Finished,
            _ => ImportState.Failed,
        },
        view.Source,
        view.Shape switch
        {
            null => null,
            FamilyShape.JsonColumns => ImportShape.JsonColumns,
            FamilyShape.CompressedColumns => ImportShape.CompressedColumns,
            _ => ImportShape.BlobFiles,
        },
        view.Progress,
        view.Error,
        view.StartedAt,
        view.FinishedAt,
        [.. view.Report.Counts.Select(count => new ImportedCount(KindOf(count.Kind), count.Found, count.Taken, count.Left))],
        [.. view.Report.Left.Select(left => new ImportedLeft(KindOf(left.Kind), left.Name, left.Reason))],
        view.Report.LeftTotal,
        view.Report.Notes,
        view.Report.NotesTotal,
        view.Report.Kept);

    private static ImportedKind KindOf(ImportKind kind) => kind switch
    {
        ImportKind.Settings => ImportedKind.Settings,
        ImportKind.Logins => ImportedKind.Logins,
        ImportKind.Files => ImportedKind.Files,
        ImportKind.History => ImportedKind.History,
        ImportKind.Queue => ImportedKind.Queue,
        _ => ImportedKind.Nzbs,
    };
}

/// <summary>How an import stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(FamilyImportReport))]
internal sealed partial class FamilyImportJson : JsonSerializerContext;
