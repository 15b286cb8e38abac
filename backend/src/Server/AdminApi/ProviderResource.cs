using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.AspNetCore.Mvc;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/providers</c>: the news servers, how they are, and a test of one.</summary>
internal static class ProviderResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapProviders(this RouteGroupBuilder api)
    {
        var providers = api.MapGroup("/providers");
        providers.MapGet("", List).WithName("ListProviders");
        providers.MapPost("", AddAsync).WithName("AddProvider");
        providers.MapPut("/{id}", ChangeAsync).WithName("ChangeProvider");
        providers.MapDelete("/{id}", RemoveAsync).WithName("RemoveProvider");
        providers.MapPost("/{id}/reset", ResetAsync).WithName("ResetProvider");
        // Server-sent events: `step` with ProviderTestStep, then `done` with ProviderTestOutcome.
        providers.MapPost("/test", TestAsync).Produces<ProviderTestStep>(StatusCodes.Status200OK, "text/event-stream").WithName("TestProvider");
    }

    private static Ok<ProviderRows> List() => throw new NotImplementedException();

    private static Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> AddAsync([FromBody] ProviderSave provider, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> ChangeAsync(string id, [FromBody] ProviderSave provider, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<NoContent, JsonHttpResult<Problem>>> RemoveAsync(string id, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<Results<Ok<ProviderRow>, JsonHttpResult<Problem>>> ResetAsync(string id, [FromBody] ProviderReset request, CancellationToken cancellationToken) => throw new NotImplementedException();

    private static Task<IResult> TestAsync([FromBody] ProviderTest test, HttpContext http, CancellationToken cancellationToken) => throw new NotImplementedException();
}
