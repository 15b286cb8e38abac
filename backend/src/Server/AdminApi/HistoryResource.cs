using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/history</c> and <c>/api/undo</c>: finished imports.</summary>
internal static class HistoryResource
{
    private const int MostFiles = 100;
    private const string NzbType = "application/x-nzb";
    private const string NoItem = "This item is not in the history any more.";
    private const string OneOfTwo = "Name ids or a filter, and not both.";

    public static void MapHistory(this RouteGroupBuilder api)
    {
        var history = api.MapGroup("/history");
        history.MapGet("", ListAsync).WithName("ListHistory");
        history.MapGet("/{id}", ShowAsync).WithName("ShowHistoryItem");
        history.MapGet("/{id}/nzb", DownloadAsync).Produces<Stream>(StatusCodes.Status200OK, NzbType).WithName("DownloadHistoryNzb");
        history.MapPost("/{id}/retry", RetryAsync).WithName("RetryHistoryItem");
        history.MapPost("/retry", RetryAllAsync).WithName("RetryHistoryItems");
        history.MapDelete("/{id}", RemoveOneAsync).WithName("RemoveHistoryItem");
        history.MapPost("/remove", RemoveAsync).WithName("RemoveHistoryItems");
        history.MapPost("/remove-files", RemoveFilesAsync).WithName("RemoveReleasesInNoLibrary");
        api.MapPost("/undo/{id}", UndoAsync).WithName("Undo");
    }

    private static async Task<Results<Ok<HistoryPage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? q, string? category, string? result, string? reason, bool? inNoLibrary, bool? withGaps, string? sort,
        HistoryRows rows, EventHub events, CancellationToken cancellationToken)
    {
        var read = new ListReader();
        var order = read.Word<HistoryOrder>("sort", sort) ?? HistoryOrder.Newest;
        var query = HistoryRows.QueryOf(q, category, read.Word<JobResult>("result", result), read.Word<FailureReason>("reason", reason), inNoLibrary, withGaps) with { Order = order };
        var (after, most) = (read.Place(order, cursor), read.Limit(limit));
        if (read.Problem is { } problem)
            return problem;
        var seq = events.Seq;
        var page = await rows.ReadAsync(query, after, most, cancellationToken);
        return TypedResults.Ok(new HistoryPage(page.Items, ListReader.CursorOf(order, page.Next), page.Total, seq));
    }

    private static async Task<Results<Ok<HistoryDetail>, JsonHttpResult<Problem>>> ShowAsync(
        string id, HistoryStore store, LibraryStore library, BlobStore blobs, CancellationToken cancellationToken)
    {
        if (await store.FindAsync(id, cancellationToken) is not { } item)
            return AdminProblem.NotFound(NoItem);
        var (files, count) = item.ReleaseId is { } release ? await library.ListFirstAsync(release, MostFiles, cancellationToken) : ([], 0);
        return TypedResults.Ok(new HistoryDetail(
            HistoryRows.Of(item),
            item.AddedAt,
            item.StartedAt,
            JobSteps.Of(item),
            [.. files.Select(file => new HistoryFile(file.Id, file.Path, file.Length))],
            count,
            item.NzbHash is { } hash && blobs.ContainsNzb(hash)));
    }

    /// <summary>Returns the NZB exactly as it was added (IMP-6).</summary>
    private static async Task<Results<FileStreamHttpResult, JsonHttpResult<Problem>>> DownloadAsync(
        string id, HistoryStore store, StoredNzbReader nzbs, CancellationToken cancellationToken)
    {
        if (await store.FindAsync(id, cancellationToken) is not { } item)
            return AdminProblem.NotFound(NoItem);
        try
        {
            return item.NzbHash is { } hash
                ? TypedResults.Stream(nzbs.Open(hash), NzbType, item.NzbName)
                : AdminProblem.NotFound("Its NZB is not kept.");
        }
        catch (StoredNzbLostException)
        {
            return AdminProblem.NotFound("Its NZB is gone.");
        }
    }

    private static async Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> RetryAsync(
        string id, HistoryRetry request, HistoryStore store, QueueReturn queue, QueueRows rows, CancellationToken cancellationToken)
    {
        if (await store.FindAsync(id, cancellationToken) is not { } item)
            return AdminProblem.NotFound(NoItem);
        if (item.IsCompleted)
            return AdminProblem.WrongState("This import succeeded, so there's nothing to retry.");
        var another = RetryKind.Yes | (request.OtherProviders == true ? RetryKind.AsksEveryone : 0) | (request.IgnoreHealth == true ? RetryKind.IgnoresDamage : 0);
        return await queue.ReturnAsync(id, new QueueReturnChange(request.Password ?? "", null) { Try = another }, cancellationToken) switch
        {
            QueueReturnEnd.Returned => TypedResults.Ok(await rows.NamesOfAsync([id], CancellationToken.None)),
            QueueReturnEnd.QueueFull => NzbForm.Refuse(AddRefusal.QueueFull),
            _ => AdminProblem.WrongState("Its NZB is gone. Add it again."),
        };
    }

    private static async Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> RetryAllAsync(
        HistoryItems items, HistoryRows rows, HistoryListStore store, QueueReturn queue, CancellationToken cancellationToken)
    {
        if (await rows.SelectAsync(items, cancellationToken) is not { } numbers)
            return AdminProblem.BadInput("ids", OneOfTwo);
        var (returned, isFull) = await queue.ReturnAllAsync(await store.FindIdsAsync(numbers, cancellationToken), QueueReturnChange.None, cancellationToken);
        return isFull && returned.Count == 0 ? NzbForm.Refuse(AddRefusal.QueueFull) : TypedResults.Ok(new BulkCount(returned.Count));
    }

    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveOneAsync(
        string id, HistoryStore store, UndoWorker undo, CancellationToken cancellationToken) =>
        await store.FindAsync(id, cancellationToken) is { } item && await undo.RemoveHistoryAsync([item.Number], cancellationToken) is { } ticket
            ? TypedResults.Ok(QueueResource.Show(ticket))
            : AdminProblem.NotFound(NoItem);

    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveAsync(
        HistoryItems items, HistoryRows rows, UndoWorker undo, CancellationToken cancellationToken) =>
        await rows.SelectAsync(items, cancellationToken) is { } numbers
            ? TypedResults.Ok(QueueResource.Show(await undo.RemoveHistoryAsync(numbers, cancellationToken)))
            : AdminProblem.BadInput("ids", OneOfTwo);

    /// <summary>Removes the releases of items that no library contains. The items stay.</summary>
    private static async Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveFilesAsync(
        HistoryItems items, HistoryRows rows, UndoWorker undo, CancellationToken cancellationToken) =>
        await rows.SelectAsync(items, cancellationToken) is { } numbers
            ? TypedResults.Ok(QueueResource.Show(await undo.RemoveReleasesAsync(numbers, cancellationToken)))
            : AdminProblem.BadInput("ids", OneOfTwo);

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> UndoAsync(
        string id, UndoWorker undo, FileRemoval files, CancellationToken cancellationToken)
    {
        var end = await files.UndoAsync(id, cancellationToken) is { } count
            ? count > 0 ? UndoEnd.Undone : UndoEnd.TooLate
            : await undo.UndoAsync(id, cancellationToken);
        return end switch
        {
            UndoEnd.Undone => TypedResults.NoContent(),
            UndoEnd.TooLate => AdminProblem.WrongState("It's too late to undo this."),
            _ => AdminProblem.NotFound("There's nothing to undo."),
        };
    }
}
