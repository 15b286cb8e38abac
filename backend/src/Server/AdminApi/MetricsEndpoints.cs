using Microsoft.AspNetCore.Authentication;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary><c>/metrics</c> for Prometheus (ADM-40). Counters are read on request, so nothing runs in between (OPS-30).</summary>
internal static class MetricsEndpoints
{
    public static void MapMetrics(this IEndpointRouteBuilder routes) =>
        routes.MapMethods("/metrics", ["GET", "HEAD"], (RequestDelegate)AnswerAsync).WithMetadata(new BearerKeys()).OpenAs(OpenEndpoint.Metrics);

    private static async Task AnswerAsync(HttpContext http)
    {
        http.Response.Headers.CacheControl = "no-store";
        if (http.RequestServices.GetRequiredService<IOptionsMonitor<MetricsOptions>>().CurrentValue.RequiresKey && !await HasKeyAsync(http))
        {
            await http.ChallengeAsync(AdminDoor.Name);
            return;
        }

        var text = new MetricsWriter();
        foreach (var source in http.RequestServices.GetServices<MetricSource>())
            await source(text, http.RequestAborted);
        http.Response.ContentType = MetricsWriter.ContentType;
        http.Response.ContentLength = text.Text.Length;
        if (!HttpMethods.IsHead(http.Request.Method))
            await http.Response.Body.WriteAsync(text.Text, http.RequestAborted);
    }

    /// <summary>Whether the request has a named key. Sessions are for browsers only.</summary>
    private static async Task<bool> HasKeyAsync(HttpContext http)
    {
        if (await http.AuthenticateAsync(AdminDoor.Name) is not { Succeeded: true } known || known.Principal.FindFirst(AdminDoor.Kind)?.Value is AdminDoor.Session)
            return false;
        http.Prove();
        return true;
    }
}
