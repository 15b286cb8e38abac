using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// The last handler under every request: a mistake of the client becomes its status, a fault of storage 507 or 503, and a defect of
/// Sluice one line in the log and a bare 500. Nothing of an exception is ever sent (S27).
/// </summary>
internal static class RequestFailures
{
    /// <summary>The Retry-After while storage fails, in seconds (DAV-6).</summary>
    private const string RetryAfterSeconds = "30";

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
            // The client has gone; the exception follows from that and is no fault.
            context.Abort();
        }
        catch (StorageException e) when (!context.Response.HasStarted)
        {
            // The storage has told of it, not each request that meets it (F46).
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
                // A short body must not look like a whole one.
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
