using Sluice.Server.Auth;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// Stops the start when an endpoint of the UI or an API has a path of the tree, or a name that is not reserved for it (DAV-3,
/// DAV-92): it would hide the file of that name.
/// </summary>
internal sealed class RouteAssertion(EndpointDataSource routes) : IHostedLifecycleService
{
    /// <inheritdoc/>
    public Task StartedAsync(CancellationToken cancellationToken)
    {
        foreach (var route in routes.Endpoints.OfType<RouteEndpoint>())
        {
            // The catch-all of the tree comes after every other route, by its order.
            if (route.Order == int.MaxValue)
                continue;
            // Pages give way to the tree where a client does not ask for HTML.
            if (route.RoutePattern.RawText is "/" or "/{**path}" && route.Metadata.GetMetadata<OpenEndpoint>()?.Name == OpenEndpoint.Static)
                continue;
            var first = route.RoutePattern.RawText?.TrimStart('/').Split('/')[0] ?? "";
            if (!TreeNames.IsReserved(first) && first != TreeNames.View)
                throw new InvalidOperationException($"The route {route.RoutePattern.RawText} shadows the tree.");
        }

        return Task.CompletedTask;
    }

    /// <inheritdoc/>
    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
