using Microsoft.AspNetCore.Routing.Matching;

namespace Sluice.Server.Pages;

/// <summary>Marks an endpoint for requests that ask for HTML, on paths that <c>Accepts</c> allows. Others fall through (DAV-2, DAV-4, DAV-5).</summary>
internal sealed record ForBrowsers(Func<PathString, bool>? Accepts = null);

/// <summary>Removes marked endpoints unless the client requests HTML. Runs during routing, so that authorization sees the selected endpoint.</summary>
internal sealed class ForBrowsersPolicy : MatcherPolicy, IEndpointSelectorPolicy
{
    public override int Order => 0;

    public bool AppliesToEndpoints(IReadOnlyList<Endpoint> endpoints) => endpoints.Any(endpoint => endpoint.Metadata.GetMetadata<ForBrowsers>() is not null);

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

    /// <summary>Browsers accept text/html by name. Players, mounts and download clients do not, so a wildcard alone is not sufficient.</summary>
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
