namespace Sluice.Server.Diagnostics;

/// <summary><c>/healthz</c> and <c>/readyz</c> (ADM-30), and their common aliases (DAV-4).</summary>
internal static class HealthEndpoints
{
    /// <summary>Maps the endpoints. The caller adds authorization.</summary>
    public static RouteGroupBuilder MapHealth(this IEndpointRouteBuilder routes)
    {
        var group = routes.MapGroup("");
        string[] verbs = ["GET", "HEAD"];
        foreach (var path in (ReadOnlySpan<string>)["/healthz", "/health"])
            group.MapMethods(path, verbs, Health);
        foreach (var path in (ReadOnlySpan<string>)["/readyz", "/ready"])
            group.MapMethods(path, verbs, Ready);
        return group;
    }

    private static Task Health(HttpContext context)
    {
        var readiness = context.RequestServices.GetRequiredService<Readiness>();
        return Answer(context, StatusCodes.Status200OK, "ok", "mode", readiness.IsSafeMode ? "safe" : readiness.NeedsSetup ? "setup" : "normal");
    }

    private static async Task Ready(HttpContext context)
    {
        var readiness = context.RequestServices.GetRequiredService<Readiness>();
        var obstacle = await readiness.FindObstacleAsync(context.RequestAborted);
        // Respond with 200 even if the disk is full, because the server can still stream (F34).
        if (obstacle is null)
            await Answer(context, StatusCodes.Status200OK, "ok", "writes", readiness.WriteObstacle);
        else
            await Answer(context, StatusCodes.Status503ServiceUnavailable, "unavailable", "reason", obstacle);
    }

    /// <summary>Writes JSON without escaping, because every value is a constant word.</summary>
    private static Task Answer(HttpContext context, int status, string word, string? name, string? value)
    {
        var body = value is null ? $$"""{"status":"{{word}}"}""" : $$"""{"status":"{{word}}","{{name}}":"{{value}}"}""";
        context.Response.StatusCode = status;
        context.Response.ContentType = "application/json";
        context.Response.ContentLength = body.Length;
        context.Response.Headers.CacheControl = "no-store";
        return HttpMethods.IsHead(context.Request.Method) ? Task.CompletedTask : context.Response.WriteAsync(body, context.RequestAborted);
    }
}
