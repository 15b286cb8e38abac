using System.Globalization;

namespace Sluice.Server.Diagnostics;

/// <summary>Logs one line per request at Debug. Omits the query, because it contains keys and passwords (S4).</summary>
internal static class RequestLines
{
    public static IApplicationBuilder UseRequestLines(this IApplicationBuilder app)
    {
        var logger = app.ApplicationServices.GetRequiredService<ILoggerFactory>().CreateLogger(typeof(RequestLines));
        var time = app.ApplicationServices.GetRequiredService<TimeProvider>();
        return app.Use((context, next) => logger.IsEnabled(LogLevel.Debug) ? RunAsync(context, next, logger, time) : next(context));
    }

    private static async Task RunAsync(HttpContext context, RequestDelegate next, ILogger logger, TimeProvider time)
    {
        var (method, path) = (context.Request.Method, context.Request.Path.Value ?? "");
        var start = time.GetTimestamp();
        try
        {
            await next(context);
        }
        finally
        {
            var took = time.GetElapsedTime(start).TotalMilliseconds.ToString("F1", CultureInfo.InvariantCulture);
            DiagnosticsLog.Request(logger, method, path, context.Connection.RemoteIpAddress?.ToString() ?? "", context.Response.StatusCode, took);
        }
    }
}
