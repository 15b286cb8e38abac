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
        api.MapGet("/stats/providers", ShowProviderTrafficAsync).WithName("ShowProviderTraffic");
    }

    private static Ok<StreamRows> List(StreamViews views, EventHub events) => TypedResults.Ok(views.Rows(events.Seq));

    private static async Task<Results<Ok<StreamDetail>, JsonHttpResult<Problem>>> ShowAsync(string id, StreamViews views, CancellationToken cancellationToken) =>
        await views.DetailAsync(id, cancellationToken) is { } detail ? TypedResults.Ok(detail) : Unknown();

    private static Results<NoContent, JsonHttpResult<Problem>> Stop(string id, StreamViews views) => views.Stop(id) ? TypedResults.NoContent() : Unknown();

    private static async Task<Results<Ok<Stats>, JsonHttpResult<Problem>>> ShowStatsAsync(
        string? window, int? points, StatViews views, EventHub events, CancellationToken cancellationToken) =>
        Read(window, points, out var shown, out var most) ?? (Results<Ok<Stats>, JsonHttpResult<Problem>>)TypedResults.Ok(
            await views.ShowAsync(shown, most, events.Seq, cancellationToken));

    private static async Task<Results<Ok<ProviderTraffic>, JsonHttpResult<Problem>>> ShowProviderTrafficAsync(
        string? window, int? points, StatViews views, CancellationToken cancellationToken) =>
        Read(window, points, out var shown, out var most) ?? (Results<Ok<ProviderTraffic>, JsonHttpResult<Problem>>)TypedResults.Ok(
            await views.ShowProvidersAsync(shown, most, cancellationToken));

    // The default is ten minutes, with as many points as a chart shows.
    private static JsonHttpResult<Problem>? Read(string? window, int? points, out RateWindow shown, out int most)
    {
        most = points ?? RateWindow.Points[^1];
        shown = RateWindow.All.FirstOrDefault(each => each.Word == window) ?? RateWindow.All[0];
        if (window is not null && window != shown.Word)
            return AdminProblem.BadInput("window", $"Must be one of {string.Join(", ", RateWindow.All.Select(static each => each.Word))}.");
        return RateWindow.Points.Contains(most) ? null : AdminProblem.BadInput("points", $"Must be {string.Join(" or ", RateWindow.Points)}.");
    }

    private static JsonHttpResult<Problem> Unknown() => AdminProblem.NotFound("This playback has ended or never existed.");
}
