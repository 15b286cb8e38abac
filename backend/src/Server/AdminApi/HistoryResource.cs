using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Mvc;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/history</c> and <c>/api/undo</c>: imports that have ended.</summary>
internal static class HistoryResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapHistory(this RouteGroupBuilder api)
    {
        var history = api.MapGroup("/history");
        history.MapGet("", ListAsync).WithName("ListHistory");
        history.MapGet("/{id}", ShowAsync).WithName("ShowHistoryItem");
        history.MapGet("/{id}/nzb", DownloadAsync).Produces<Stream>(StatusCodes.Status200OK, "application/x-nzb").WithName("DownloadHistoryNzb");
        history.MapPost("/{id}/retry", RetryAsync).WithName("RetryHistoryItem");
        history.MapPost("/retry", RetryAllAsync).WithName("RetryHistoryItems");
        history.MapDelete("/{id}", RemoveOneAsync).WithName("RemoveHistoryItem");
        history.MapPost("/remove", RemoveAsync).WithName("RemoveHistoryItems");
        api.MapPost("/undo/{id}", UndoAsync).WithName("Undo");
    }

    private static Task<Results<Ok<HistoryPage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? q, string? category, JobResult? result, JobFailure? reason, string? sort, CancellationToken cancellationToken) =>
        throw new NotImplementedException();

    private static Task<Results<Ok<HistoryDetail>, JsonHttpResult<Problem>>> ShowAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<IResult> DownloadAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> RetryAsync(string id, [FromBody] HistoryRetry request, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> RetryAllAsync([FromBody] HistoryItems items, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveOneAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveAsync([FromBody] HistoryItems items, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<NoContent, JsonHttpResult<Problem>>> UndoAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();
}
