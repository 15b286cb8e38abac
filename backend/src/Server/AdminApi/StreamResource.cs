using Microsoft.AspNetCore.Http.HttpResults;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/streams</c> and <c>/api/stats</c>: what is playing, and what the server does.</summary>
internal static class StreamResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapStreams(this RouteGroupBuilder api)
    {
        api.MapGet("/streams", List).WithName("ListStreams");
        api.MapGet("/streams/{id}", ShowAsync).WithName("ShowStream");
        api.MapDelete("/streams/{id}", Stop).WithName("StopStream");
        api.MapGet("/stats", ShowStatsAsync).WithName("ShowStats");
    }

    private static Ok<StreamRows> List(StreamViews views) => TypedResults.Ok(views.Rows());

    private static async Task<Results<Ok<StreamDetail>, JsonHttpResult<Problem>>> ShowAsync(string id, StreamViews views, CancellationToken cancellationToken) =>
        await views.DetailAsync(id, cancellationToken) is { } detail ? TypedResults.Ok(detail) : Unknown();

    private static Results<NoContent, JsonHttpResult<Problem>> Stop(string id, StreamViews views) => views.Stop(id) ? TypedResults.NoContent() : Unknown();

    private static async Task<Ok<Stats>> ShowStatsAsync(StatWindow? window, StatViews views, CancellationToken cancellationToken) =>
        TypedResults.Ok(await views.ShowAsync(window ?? StatWindow.TenMinutes, seq: 0, cancellationToken));

    private static JsonHttpResult<Problem> Unknown() => AdminProblem.NotFound("This playback has ended, or never was.");
}
