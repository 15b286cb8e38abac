using Microsoft.AspNetCore.Http.HttpResults;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/streams</c> and <c>/api/stats</c>: what is playing, and what the server does.</summary>
internal static class StreamResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapStreams(this RouteGroupBuilder api)
    {
        api.MapGet("/streams", List).WithName("ListStreams");
        api.MapGet("/streams/{id}", Show).WithName("ShowStream");
        api.MapDelete("/streams/{id}", Stop).WithName("StopStream");
        api.MapGet("/stats", ShowStatsAsync).WithName("ShowStats");
    }

    private static Ok<StreamRows> List() => throw new NotImplementedException();

    private static Results<Ok<StreamDetail>, JsonHttpResult<Problem>> Show(string id) => throw new NotImplementedException();

    private static Results<NoContent, JsonHttpResult<Problem>> Stop(string id) => throw new NotImplementedException();

    private static Task<Ok<Stats>> ShowStatsAsync(StatWindow? window, CancellationToken cancellationToken) => throw new NotImplementedException();
}
