using Microsoft.AspNetCore.Routing.Matching;

namespace Sluice.Server.Pages;

/// <summary>Marks an endpoint that answers only requests for HTML; all others fall to the endpoint behind it (DAV-2, DAV-4, DAV-5).</summary>
/// <param name="Accepts">Which paths it answers, by their names alone; null for all that its route matches.</param>
internal sealed record ForBrowsers(Func<PathString, bool>? Accepts = null);

/// <summary>Takes the marked endpoints away from clients that do not ask for HTML, while the route is chosen and before access is judged.</summary>
internal sealed class ForBrowsersPolicy : MatcherPolicy, IEndpointSelectorPolicy
{
    /// <inheritdoc/>
    public override int Order => 0;

    /// <inheritdoc/>
    public bool AppliesToEndpoints(IReadOnlyList<Endpoint> endpoints) => endpoints.Any(endpoint => endpoint.Metadata.GetMetadata<ForBrowsers>() is not null);

    /// <inheritdoc/>
    public Task ApplyAsync(HttpContext httpContext, CandidateSet candidates)
    {
        var asksForHtml = AsksForHtml(httpContext.Request);
        for (var i = 0; i < candidates.Count; i++)
        {
            if (candidates.IsValidCandidate(i)
                && candidates[i].Endpoint.Metadata.GetMetadata<ForBrowsers>() is { } mark
                && !(asksForHtml && mark.Accepts?.Invoke(httpContext.Request.Path) != false))
            {
                candidates.SetValidity(i, false);
            }
        }

        return Task.CompletedTask;
    }

    /// <summary>Browsers name it; players, mounts and download clients do not, and get a wildcard what they always got.</summary>
    private static bool AsksForHtml(HttpRequest request)
    {
        foreach (var accepted in request.Headers.Accept)
        {
            if (accepted?.Contains("text/html", StringComparison.OrdinalIgnoreCase) == true)
                return true;
        }

        return false;
    }
}
