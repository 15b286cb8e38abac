using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// The outermost error handler: a client error keeps its status, a storage fault becomes 507 or 503, and any other exception becomes a log line
/// and an empty 500. Exceptions are never sent to clients (S27).
/// </summary>
internal static class RequestFailures
{
    /// <summary>Retry-After for storage faults, in seconds (DAV-6).</summary>
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
            // The client has disconnected, so the exception is no fault.
            context.Abort();
        }
        catch (StorageException e) when (!context.Response.HasStarted)
        {
            // Not logged here, because the storage logs it once instead of every request (F46).
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
