using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.FamilyImport;

namespace Sluice.Server.AdminApi;

/// <summary>
/// The import of an old server's library. <c>Shape</c> and <c>Counts</c> are unknown until the first count; <c>Progress</c> is 0 to 1. <c>Left</c> lists items
/// left behind and <c>Notes</c> items that change their form, at most a thousand each. <c>Kept</c> lists the keys of settings that are kept but have no effect.
/// </summary>
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

/// <summary><c>/api/setup/import</c>: imports the library of an old server found in the data folder (CFG-40).</summary>
internal static class ImportResource
{
    public static void MapImport(this RouteGroupBuilder api)
    {
        api.MapGet("/setup/import", ShowAsync).WithName("ShowImport");
        api.MapPost("/setup/import", Begin).WithName("BeginImport");
    }

    /// <summary>Returns the progress. The first call starts counting.</summary>
    private static async Task<Ok<FamilyImportReport>> ShowAsync(FamilyImportWorker import, CancellationToken cancellationToken) =>
        TypedResults.Ok(Shape(await import.ShowAsync(cancellationToken)));

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
