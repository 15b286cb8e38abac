using Sluice.Server.Auth;

namespace Sluice.Server.WebDav.Tree;

/// <summary>Stops startup if the path of a UI or API route is not reserved (DAV-3, DAV-92), because the route would hide a file of that name.</summary>
internal sealed class RouteAssertion(EndpointDataSource routes) : IHostedLifecycleService
{
    public Task StartedAsync(CancellationToken cancellationToken)
    {
        foreach (var route in routes.Endpoints.OfType<RouteEndpoint>())
        {
            // The tree's catch-all route is matched last, so it shadows nothing.
            if (route.Order == int.MaxValue)
                continue;
            // Page routes yield to the tree unless the client asks for HTML.
            if (route.RoutePattern.RawText is "/" or "/{**path}" && route.Metadata.GetMetadata<OpenEndpoint>()?.Name == OpenEndpoint.Static)
                continue;
            var first = route.RoutePattern.RawText?.TrimStart('/').Split('/')[0] ?? "";
            if (!TreeNames.IsReserved(first) && first != TreeNames.View)
                throw new InvalidOperationException($"The route {route.RoutePattern.RawText} shadows the tree.");
        }

        return Task.CompletedTask;
    }

    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
