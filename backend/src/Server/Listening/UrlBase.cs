using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Listening;

/// <summary>
/// Moves everything below <c>general.url-base</c> (DAV-1). Beside it only the process endpoints answer: a watchdog of the process
/// need not know the base.
/// </summary>
internal static class UrlBase
{
    private static readonly PathString[] Process = ["/healthz", "/readyz"];

    /// <summary>Cuts the base off the path, before routing.</summary>
    public static IApplicationBuilder UseUrlBase(this IApplicationBuilder app)
    {
        var general = app.ApplicationServices.GetRequiredService<IOptionsMonitor<GeneralOptions>>();
        // Hrefs that clients keep must not change under them: what counts is the value of the first request.
        var urlBase = new Lazy<PathString>(() => new PathString(general.CurrentValue.UrlBase));
        return app.Use((context, next) =>
        {
            var request = context.Request;
            if (!urlBase.Value.HasValue || Process.Contains(request.Path))
                return next(context);

            // OPTIONS * has no path and asks about the whole server.
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
