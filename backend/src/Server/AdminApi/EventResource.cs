namespace Sluice.Server.AdminApi;

/// <summary><c>/api/events</c>: what happens, as server-sent events (ADM-20 to ADM-23).</summary>
internal static class EventResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapEvents(this RouteGroupBuilder api) =>
        api.MapGet("/events", WatchAsync).Produces<EventPayloads>(StatusCodes.Status200OK, "text/event-stream").WithName("WatchEvents");

    // topics: words of ADM-20, separated by commas. since: the id of the last frame.
    private static Task<IResult> WatchAsync(string topics, string? since, HttpContext http, CancellationToken cancellationToken) => throw new NotImplementedException();
}
