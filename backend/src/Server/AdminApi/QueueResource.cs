using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Mvc;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/queue</c>: what is imported, and what is to be.</summary>
internal static class QueueResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapQueue(this RouteGroupBuilder api)
    {
        var queue = api.MapGroup("/queue");
        queue.MapGet("", ListAsync).WithName("ListQueue");
        queue.MapPost("", AddAsync).Accepts<QueueUpload>("multipart/form-data").WithName("AddNzb");
        queue.MapPost("/address", AddAddressAsync).WithName("AddNzbAddress");
        queue.MapPut("/{id}", ChangeAsync).WithName("ChangeQueueItem");
        queue.MapDelete("/{id}", RemoveOneAsync).WithName("RemoveQueueItem");
        queue.MapPost("/change", ChangeAllAsync).WithName("ChangeQueueItems");
        queue.MapPost("/remove", RemoveAsync).WithName("RemoveQueueItems");
        queue.MapPost("/pause", PauseAsync).WithName("PauseQueue");
        queue.MapPost("/resume", ResumeAsync).WithName("ResumeQueue");
    }

    private static Task<Results<Ok<QueuePage>, JsonHttpResult<Problem>>> ListAsync(
        string? cursor, int? limit, string? q, string? category, JobState? state, string? sort, CancellationToken cancellationToken) =>
        throw new NotImplementedException();

    // Form: file, category, name, password, priority.
    private static Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AddAsync(HttpContext http, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<QueueAdded>, JsonHttpResult<Problem>>> AddAddressAsync([FromBody] QueueAddress address, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<QueueRow>, JsonHttpResult<Problem>>> ChangeAsync(string id, [FromBody] QueueChange change, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveOneAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<BulkCount>, JsonHttpResult<Problem>>> ChangeAllAsync([FromBody] QueueBulkChange change, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<Removed>, JsonHttpResult<Problem>>> RemoveAsync([FromBody] QueueItems items, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<QueueState>, JsonHttpResult<Problem>>> PauseAsync([FromBody] QueuePauseRequest request, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<QueueState>, JsonHttpResult<Problem>>> ResumeAsync(CancellationToken cancellationToken) => throw new NotImplementedException();
}
