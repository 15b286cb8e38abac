using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Listening;

/// <summary>Serves all routes below <c>general.url-base</c> (DAV-1). Health endpoints also work without the base, because a watchdog may not know it.</summary>
internal static class UrlBase
{
    private static readonly PathString[] Process = ["/healthz", "/readyz"];

    /// <summary>Removes the base from the request path. Call before routing.</summary>
    public static IApplicationBuilder UseUrlBase(this IApplicationBuilder app)
    {
        var general = app.ApplicationServices.GetRequiredService<IOptionsMonitor<GeneralOptions>>();
        // Fixed at the first request, because clients store links that contain the base.
        var urlBase = new Lazy<PathString>(() => new PathString(general.CurrentValue.UrlBase));
        return app.Use((context, next) =>
        {
            var request = context.Request;
            if (!urlBase.Value.HasValue || Process.Contains(request.Path))
                return next(context);

            // OPTIONS * has no path, because it applies to the whole server.
            if (!request.Path.HasValue)
            {
                request.PathBase = urlBase.Value;
                return next(context);
            }

            if (!request.Path.StartsWithSegments(urlBase.Value, StringComparison.Ordinal, out var matched, out var rest))
            {
                context.Response.StatusCode = StatusCodes.Status404NotFound;
                return Task.CompletedTask;
            }

            request.PathBase = matched;
            request.Path = rest.HasValue ? rest : "/";
            return next(context);
        });
    }
}
