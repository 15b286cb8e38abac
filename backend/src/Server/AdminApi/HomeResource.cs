using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Events;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/home</c>: the front page in one response.</summary>
internal static class HomeResource
{
    public static void MapHome(this RouteGroupBuilder api)
    {
        api.MapGet("/home", ShowAsync).WithName("ShowHome");
        api.MapGet("/home/failed", CountFailedAsync).WithName("CountFailedImports");
        api.MapPost("/home/seen", SeeAsync).WithName("SeeNeed");
    }

    private static async Task<Ok<Home>> ShowAsync(HomeViews views, EventHub events, CancellationToken cancellationToken)
    {
        // Read the number before the queries, so that the client also gets events that occur during the queries.
        var seq = events.Seq;
        return TypedResults.Ok(await views.ShowAsync(seq, cancellationToken));
    }

    private static async Task<Ok<FailedCount>> CountFailedAsync(HomeViews views, CancellationToken cancellationToken) =>
        TypedResults.Ok(new FailedCount(await views.CountFailedAsync(cancellationToken)));

    // Hides the issue until a newer release has it too.
    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> SeeAsync(HomeSeen seen, HomeViews views, CancellationToken cancellationToken) =>
        await views.SeeAsync(seen.Id, seen.At, cancellationToken) ? TypedResults.NoContent() : AdminProblem.NotFound("There is no such need.");
}
