using System.Text.Json.Serialization;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.FamilyImport;

namespace Sluice.Server.AdminApi;

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
    ImportStage State,
    string? Source,
    FamilyShape? Shape,
    double Progress,
    string? Error,
    DateTimeOffset? StartedAt,
    DateTimeOffset? FinishedAt,
    IReadOnlyList<ImportCount> Counts,
    IReadOnlyList<LeftThing> Left,
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
    private static Ok<FamilyImportReport> Show(FamilyImportWorker import) => TypedResults.Ok(Shape(import.Snapshot()));

    private static Results<Accepted<FamilyImportReport>, JsonHttpResult<Problem>> Begin(FamilyImportWorker import) => import.TryBegin()
        ? TypedResults.Accepted((string?)null, Shape(import.Snapshot()))
        : AdminProblem.WrongState("There is nothing to import, or it was done before.");

    private static FamilyImportReport Shape(ImportView view) => new(
        view.Stage,
        view.Source,
        view.Shape,
        view.Progress,
        view.Error,
        view.StartedAt,
        view.FinishedAt,
        view.Report.Counts,
        view.Report.Left,
        view.Report.LeftTotal,
        view.Report.Notes,
        view.Report.NotesTotal,
        view.Report.Kept);
}

/// <summary>How an import stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(FamilyImportReport))]
internal sealed partial class FamilyImportJson : JsonSerializerContext;
