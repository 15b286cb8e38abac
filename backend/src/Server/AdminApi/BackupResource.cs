using System.Text.Json;
using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Primitives;
using Sluice.Server.Auth;
using Sluice.Server.Backups;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Events;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/backups</c>: this server's backups, restoring one, and the NZBs added after a restored backup (OPS-1 to OPS-12).</summary>
internal static class BackupResource
{
    // Maximum NZBs on a page. The total counts all of them.
    private const int MaxLater = 500;

    private const int MaxPassphrase = 1024;

    private const string BackupTarType = "application/x-tar";

    public static void MapBackups(this RouteGroupBuilder api)
    {
        var backups = api.MapGroup("/backups");
        backups.MapGet("", Show).WithName("ShowBackups");
        backups.MapPost("", Make).WithName("MakeBackup");
        backups.MapGet("/{id}", DownloadAsync).Produces<string>(contentType: BackupTarType).WithName("DownloadBackup");
        backups.MapDelete("/{id}", Delete).WithName("DeleteBackup");
        backups.MapPost("/{id}/restore", RestoreAsync).WithName("RestoreBackup");
        backups.MapGet("/later", ShowLaterAsync).WithName("ShowLaterNzbs");
        backups.MapPost("/later/requeue", RequeueAsync).WithName("RequeueLaterNzbs");
    }

    private static Ok<BackupList> Show(BackupWorker worker, SecondFolderWorker second) => TypedResults.Ok(BackupList.Of(worker.State, second.State));

    /// <summary>Starts a backup. The topic <c>backups</c> reports when it ends.</summary>
    private static Accepted<BackupList> Make(BackupWorker worker, SecondFolderWorker second)
    {
        worker.Request();
        return TypedResults.Accepted((string?)null, BackupList.Of(worker.State, second.State));
    }

    /// <summary>
    /// Sends a backup with its NZBs as one tar file of known length. A read-only key is refused, because the backup contains password hashes.
    /// </summary>
    private static async Task<Results<PushStreamHttpResult, JsonHttpResult<Problem>>> DownloadAsync(
        string id, HttpContext http, BackupPlaces backups, BlobStore blobs, IBlobFiles files, IEnumerable<BlobReference> references, CancellationToken cancellationToken)
    {
        if (backups.Find(id) is not { } backup)
            return NotFound();
        if (http.User.FindFirst(AdminDoor.Kind)?.Value == AdminDoor.ReadKey)
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "unauthorized", "This key may only read, and a backup holds everything.");
        var source = BlobPool.Beside(backup.Path, files) ?? (IBlobSource)blobs;
        var tar = await Task.Run(() => BackupTar.Of(backup, source, references), cancellationToken);
        http.Response.ContentLength = tar.Length;
        return TypedResults.Stream(to => WriteAsync(tar, to, http), BackupTarType, $"sluice-{backup.Id}.tar");
    }

    private static async Task WriteAsync(BackupTar tar, Stream to, HttpContext http)
    {
        try
        {
            await tar.WriteAsync(to, http.RequestAborted);
        }
        catch (IOException)
        {
            // End the connection before the announced length, so that the client notices that the file is incomplete.
            http.Abort();
        }
    }

    /// <summary>Deletes a backup from the data folder or, if it is not there, from the second folder.</summary>
    private static Results<NoContent, JsonHttpResult<Problem>> Delete(
        string id, BackupFolder backups, BackupPlaces places, BackupWorker worker, SecondFolderWorker second)
    {
        if (places.Find(id) is not { } backup)
            return NotFound();
        var isDeleted = backups.Find(id) is { } first ? worker.TryDelete(first) : second.TryDelete(backup);
        return isDeleted ? TypedResults.NoContent() : AdminProblem.WrongState("This is the only backup. Make another one first.");
    }

    /// <summary>Reads the whole backup and reports the cost of restoring it. Unless this is a dry run, the server restarts and restores the backup.</summary>
    private static async Task<Results<Ok<RestoreReport>, Accepted<RestoreReport>, JsonHttpResult<Problem>>> RestoreAsync(
        string id,
        bool? dryRun,
        RestoreRequest wish,
        HttpContext http,
        BackupPlaces backups,
        RestorePlan plan,
        ProcessRestart restart,
        AdminStore admins,
        AdminPassword password,
        CancellationToken cancellationToken)
    {
        if (backups.Find(id) is not { } backup)
            return NotFound();
        if (dryRun != true && await PasswordGate.RefuseAsync(http, wish.Password, admins, password, cancellationToken) is { } refusal)
            return refusal;
        if (await Task.Run(() => plan.FindObstacle(backup, cancellationToken), cancellationToken) is { } obstacle)
            return AdminProblem.TestFailed($"This backup cannot be restored: {obstacle}.");
        var (key, wrong) = await OpenKeyAsync(backup, wish.Passphrase, cancellationToken);
        if (wrong is not null)
            return wrong;
        var report = RestoreReport.Of(await Task.Run(() => plan.Estimate(backup, key), cancellationToken));
        if (dryRun == true)
            return TypedResults.Ok(report);
        plan.Request(backup, "web UI", wish.Requeue, key);
        restart.RequestAfter(http.Response);
        return TypedResults.Accepted((string?)null, report);
    }

    /// <summary>Decrypts the key in a backup with a passphrase. Returns an error if the passphrase is wrong; both null if none was given.</summary>
    public static async Task<(byte[]? Key, JsonHttpResult<Problem>? Wrong)> OpenKeyAsync(Backup backup, string? passphrase, CancellationToken cancellationToken)
    {
        if (passphrase is not { Length: > 0 and <= MaxPassphrase } given)
            return (null, passphrase is { Length: > 0 } ? Wrong() : null);
        var key = await Task.Run(() => SealedKey.TryOpen(backup.Path, given), cancellationToken);
        return (key, key is null ? Wrong() : null);

        static JsonHttpResult<Problem> Wrong() => AdminProblem.BadInput("passphrase", "This is not the passphrase of this backup.");
    }

    private static async Task<Ok<LaterList>> ShowLaterAsync(LaterNzbs later, CancellationToken cancellationToken)
    {
        var all = await later.ListAsync(cancellationToken);
        return TypedResults.Ok(new LaterList([.. all.Take(MaxLater).Select(LaterRow.Of)], all.Count));
    }

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> RequeueAsync(LaterRequeue wish, LaterNzbs later, CancellationToken cancellationToken)
    {
        var (count, refusal) = await later.RequeueAsync(wish.Ids, cancellationToken);
        return refusal switch
        {
            null => TypedResults.Ok(new BulkCount(count)),
            AddRefusal.DiskFull => AdminProblem.Of(StatusCodes.Status507InsufficientStorage, "disk-full", "The disk is full."),
            _ => AdminProblem.WrongState($"The queue is full. {count} NZBs were added."),
        };
    }

    private static JsonHttpResult<Problem> NotFound() => AdminProblem.NotFound("There is no such backup.");
}

internal sealed class BackupsTopic(BackupWorker worker, SecondFolderWorker second) : IChangeTopic
{
    public string Name => "backups";

    public IDisposable Begin(Action changed) => new BothChanges(
        ChangeToken.OnChange(worker.GetChangeToken, changed), ChangeToken.OnChange(second.GetChangeToken, changed));

    public ValueTask<FrameMaker> SnapshotAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Snapshot));

    public ValueTask<FrameMaker?> TakeAsync(CancellationToken cancellationToken) => new(Frame(FrameKind.Delta));

    private FrameMaker Frame(FrameKind kind)
    {
        var list = BackupList.Of(worker.State, second.State);
        return seq => JsonSerializer.SerializeToUtf8Bytes(new BackupsFrame(kind, seq, list), AdminJson.Default.BackupsFrame);
    }

    private sealed class BothChanges(IDisposable first, IDisposable second) : IDisposable
    {
        public void Dispose()
        {
            first.Dispose();
            second.Dispose();
        }
    }
}
