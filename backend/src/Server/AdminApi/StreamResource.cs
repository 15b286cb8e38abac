using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Events;
using Sluice.Server.Playbacks;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/streams</c> and <c>/api/stats</c>: playbacks and the overview.</summary>
internal static class StreamResource
{
    public static void MapStreams(this RouteGroupBuilder api)
    {
        api.MapGet("/streams", List).WithName("ListStreams");
        api.MapGet("/streams/{id}", ShowAsync).WithName("ShowStream");
        api.MapDelete("/streams/{id}", Stop).WithName("StopStream");
        api.MapGet("/stats", ShowStatsAsync).WithName("ShowStats");
    }

    private static Ok<StreamRows> List(StreamViews views, EventHub events) => TypedResults.Ok(views.Rows(events.Seq));

    private static async Task<Results<Ok<StreamDetail>, JsonHttpResult<Problem>>> ShowAsync(string id, StreamViews views, CancellationToken cancellationToken) =>
        await views.DetailAsync(id, cancellationToken) is { } detail ? TypedResults.Ok(detail) : Unknown();

    private static Results<NoContent, JsonHttpResult<Problem>> Stop(string id, StreamViews views) => views.Stop(id) ? TypedResults.NoContent() : Unknown();

    private static async Task<Results<Ok<Stats>, JsonHttpResult<Problem>>> ShowStatsAsync(
        string? window, StatViews views, EventHub events, CancellationToken cancellationToken)
    {
        var read = new ListReader();
        var shown = read.Word<SampleWindow>("window", window) ?? SampleWindow.TenMinutes;
        return read.Problem is { } problem ? problem : TypedResults.Ok(await views.ShowAsync(shown, events.Seq, cancellationToken));
    }

    private static JsonHttpResult<Problem> Unknown() => AdminProblem.NotFound("This playback has ended, or never was.");
}
