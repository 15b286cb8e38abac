using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// The outermost error handler. A client error keeps its status, and a storage fault becomes 507 or 503. Any other exception is logged and becomes an empty
/// 500, because clients must never see exceptions (S27).
/// </summary>
internal static class RequestFailures
{
    /// <summary>Retry-After for a storage fault, in seconds (DAV-6).</summary>
    private const string RetryAfterSeconds = "30";

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
            // The client has disconnected, so the exception is not an error.
            context.Abort();
        }
        catch (StorageException e) when (!context.Response.HasStarted)
        {
            // Do not log this, because the storage logs a fault once instead of for every request (F46).
            context.Response.Clear();
            context.Response.StatusCode = e.Fault == StorageFault.Full && !IsRead(context.Request.Method)
                ? StatusCodes.Status507InsufficientStorage
                : StatusCodes.Status503ServiceUnavailable;
            context.Response.Headers.RetryAfter = RetryAfterSeconds;
            context.Response.Headers.CacheControl = "no-store";
        }
        catch (Exception e)
        {
            DiagnosticsLog.RequestFailed(logger, e, context.Request.Method, context.Request.Path);
            if (context.Response.HasStarted)
            {
                // A truncated body must not look complete.
                context.Abort();
                return;
            }

            context.Response.Clear();
            context.Response.StatusCode = StatusCodes.Status500InternalServerError;
        }
    }

    private static bool IsRead(string method) =>
        HttpMethods.IsGet(method) || HttpMethods.IsHead(method) || HttpMethods.IsOptions(method) || method == "PROPFIND";
}
