using Sluice.Server.Diagnostics;

namespace Sluice.Server.Auth;

/// <summary>
/// While the database cannot be read, everything but the process endpoints answers 503, after authentication: an empty tree
/// would make clients forget what they know (DAV-6).
/// </summary>
internal static class UnavailableGate
{
    /// <summary>What clients are told to wait, in seconds.</summary>
    public const string RetryAfterSeconds = "30";

    /// <summary>Adds the gate behind authorization.</summary>
    public static IApplicationBuilder UseUnavailableGate(this IApplicationBuilder app)
    {
        var readiness = app.ApplicationServices.GetRequiredService<Readiness>();
        return app.Use((context, next) =>
        {
            if (!readiness.IsSafeMode || context.GetEndpoint()?.Metadata.GetMetadata<OpenEndpoint>()?.Name == OpenEndpoint.Process)
                return next(context);

            context.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            context.Response.Headers.RetryAfter = RetryAfterSeconds;
            return Task.CompletedTask;
        });
    }
}
