using Microsoft.AspNetCore.Http.HttpResults;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/system</c> and <c>/api/access</c>: the server itself, and how others reach it.</summary>
internal static class SystemResource
{
    /// <summary>Maps the resource.</summary>
    public static void MapSystem(this RouteGroupBuilder api)
    {
        api.MapGet("/system", Show).WithName("ShowSystem");
        api.MapGet("/access", ShowAccess).WithName("ShowAccess");
    }

    private static Ok<SystemState> Show() => throw new NotImplementedException();

    private static Ok<AccessCard> ShowAccess(HttpContext http) => throw new NotImplementedException();
}
