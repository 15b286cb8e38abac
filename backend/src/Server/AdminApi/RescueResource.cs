using System.Data.Common;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;

namespace Sluice.Server.AdminApi;

/// <summary>Why the server is in safe mode. Everything else requires the code from the log or the data folder.</summary>
internal sealed record RescueState(string Cause, bool NeedsCode);

/// <summary>
/// Opens the rescue page with the code. If <c>Backup</c> is null, the response lists the backups. If it is the id of a backup, the server restarts and restores
/// that backup. <c>Passphrase</c> restores the key file too.
/// </summary>
internal sealed record RescueRequest(string Code, string? Backup = null, bool Requeue = false, string? Passphrase = null) : IJsonBody<RescueRequest>;

/// <summary>A backup with the cost of its restore.</summary>
internal sealed record RescueRow(BackupRow Backup, RestoreReport Cost);

/// <summary>Backups that can be restored, newest first. <c>IsRestoring</c> is true once the server restarts to restore one.</summary>
internal sealed record RescueList(IReadOnlyList<RescueRow> Items, bool IsRestoring);

/// <summary><c>/api/rescue</c>: the way out of safe mode without a login (OPS-14, S33).</summary>
internal static class RescueResource
{
    public static void MapRescue(this RouteGroupBuilder api)
    {
        api.MapGet("/rescue", Show).OpenAs(OpenEndpoint.Rescue).WithName("ShowRescue");
        api.MapPost("/rescue", RescueAsync).OpenAs(OpenEndpoint.Rescue).WithName("Rescue");
    }

    private static Results<Ok<RescueState>, JsonHttpResult<Problem>> Show(SafeMode safeMode) =>
        safeMode.Sentence is { } sentence ? TypedResults.Ok(new RescueState(sentence, NeedsCode: true)) : NotNeeded();

    private static async Task<Results<Ok<RescueList>, Accepted<RescueList>, JsonHttpResult<Problem>>> RescueAsync(
        RescueRequest request,
        HttpContext http,
        SafeMode safeMode,
        RescueCode code,
        FailureBudget failures,
        BackupPlaces backups,
        RestorePlan plan,
        ProcessRestart restart,
        CancellationToken cancellationToken)
    {
        if (!safeMode.IsOn)
            return NotNeeded();
        var caller = Caller.Of(http);
        if (failures.IsSpent(CredentialKind.RescueCode, caller))
            return SessionResource.Wait(http, LoginVerdict.Throttled);
        if (!code.Is(request.Code))
        {
            failures.TryAdd(CredentialKind.RescueCode, caller, failures.Mark(request.Code));
            return AdminProblem.BadInput("code", "That's not the code. You'll find it in the log and in the file rescue-code in the data folder.");
        }

        if (request.Backup is not { } id)
            return TypedResults.Ok(new RescueList(await Task.Run(() => List(backups, plan), cancellationToken), IsRestoring: false));
        if (backups.Find(id) is not { } backup)
            return AdminProblem.NotFound("There is no such backup.");
        if (await Task.Run(() => plan.FindObstacle(backup, cancellationToken), cancellationToken) is { } obstacle)
            return AdminProblem.TestFailed($"This backup cannot be restored: {obstacle}. Choose another one.");
        var (key, wrong) = await BackupResource.OpenKeyAsync(backup, request.Passphrase, cancellationToken);
        if (wrong is not null)
            return wrong;
        plan.Request(backup, "safe mode", request.Requeue, key);
        restart.RequestAfter(http.Response);
        return TypedResults.Accepted((string?)null, new RescueList([], IsRestoring: true));
    }

    private static RescueRow[] List(BackupPlaces backups, RestorePlan plan) =>
        [.. backups.List().Select(found => TryEstimate(found.Backup, found.Place, plan)).OfType<RescueRow>()];

    /// <summary>Returns null for an unreadable backup, because the other backups must still be offered.</summary>
    private static RescueRow? TryEstimate(Backup backup, BackupPlace place, RestorePlan plan)
    {
        try
        {
            return new RescueRow(BackupRow.Of(backup, place), RestoreReport.Of(plan.Estimate(backup)));
        }
        catch (Exception e) when (e is IOException or DbException)
        {
            return null;
        }
    }

    private static JsonHttpResult<Problem> NotNeeded() => AdminProblem.NotFound("The server is not in safe mode.");
}
