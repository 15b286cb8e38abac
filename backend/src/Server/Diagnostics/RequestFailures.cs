namespace Sluice.Server.Diagnostics;

/// <summary>
/// The last net under every request: what the client did wrong becomes its status, what Sluice did wrong becomes one line in
/// the log and a bare 500. Nothing of an exception is ever sent (S27).
/// </summary>
internal static class RequestFailures
{
    /// <summary>Adds the net; the outermost part.</summary>
    public static IApplicationBuilder UseRequestFailures(this IApplicationBuilder app)
    {
        var logger = app.ApplicationServices.GetRequiredService<ILoggerFactory>().CreateLogger(typeof(RequestFailures));
        return app.Use((context, next) => RunAsync(context, next, logger));
    }

    private static async Task RunAsync(HttpContext context, RequestDelegate next, ILogger logger)
    {
        try
        {
            await next(context);
        }
        catch (BadHttpRequestException e) when (!context.Response.HasStarted)
        {
            context.Response.Clear();
            context.Response.StatusCode = e.StatusCode;
        }
        catch (Exception) when (context.RequestAborted.IsCancellationRequested)
        {
            // The client has gone, and whatever followed from that interests nobody.
            context.Abort();
        }
        catch (Exception e)
        {
            DiagnosticsLog.RequestFailed(logger, e, context.Request.Method, context.Request.Path);
            if (context.Response.HasStarted)
            {
                // A short body must not look like a whole one.
                context.Abort();
                return;
            }

            context.Response.Clear();
            context.Response.StatusCode = StatusCodes.Status500InternalServerError;
        }
    }
}
