using Microsoft.AspNetCore.Http.HttpResults;
using Microsoft.Extensions.Options;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Listening;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>Marks the endpoints of the admin API.</summary>
internal sealed class AdminEndpoint;

/// <summary>Applies the browser rules to every call of the admin API (ADM-2), and gives all errors the same form (ADM-3).</summary>
internal static class AdminGate
{
    private const long MaxBody = 1 << 20;

    // Calls that need no login carry a login or the first account. Their limit is low, because anyone can send many at once.
    private const long MaxOpenBody = 8 << 10;

    /// <summary>
    /// Adds the gate after routing and before authorization, so that errors from later middleware and unreadable bodies also get this API's form.
    /// </summary>
    public static IApplicationBuilder UseAdminGate(this IApplicationBuilder app) => app.Use(RunAsync);

    /// <summary>Checks the caller's rights after authorization, but before any of the body is read, so that a refused body costs nothing.</summary>
    public static IApplicationBuilder UseAdminRights(this IApplicationBuilder app) => app.Use((http, next) =>
    {
        if (!IsOfApi(http))
            return next(http);
        if (Refuse(http) is { } problem)
            return problem.ExecuteAsync(http);
        http.AllowBody(http.User.FindFirst(AdminDoor.Kind) is null ? MaxOpenBody : MaxBody);
        return next(http);
    });

    /// <summary>
    /// Returns why a cross-site request is refused, or null. With <paramref name="isNeeded"/>, a request without an Origin header is refused too.
    /// </summary>
    public static string? RefuseOrigin(HttpContext http, bool isNeeded) =>
        RequestOrigin.Refuse(http, http.RequestServices.GetRequiredService<IOptionsMonitor<GeneralOptions>>().CurrentValue, isNeeded);

    private static bool IsOfApi(HttpContext http) => http.GetEndpoint()?.Metadata.GetMetadata<AdminEndpoint>() is not null;

    /// <summary>Returns the response for a call that must be refused, or null.</summary>
    private static JsonHttpResult<Problem>? Refuse(HttpContext http)
    {
        if (HttpMethods.IsGet(http.Request.Method) || HttpMethods.IsHead(http.Request.Method))
            return null;
        var kind = http.User.FindFirst(AdminDoor.Kind)?.Value;
        if (kind == AdminDoor.ReadKey)
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "unauthorized", "This key may only read.");
        if (kind == AdminDoor.Session && http.Request.Headers["X-Csrf"] != "1")
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "csrf", "The header X-Csrf is missing.");
        return kind is not AdminDoor.FullKey && RefuseOrigin(http, isNeeded: kind == AdminDoor.Session) is { } sentence
            ? AdminProblem.Of(StatusCodes.Status403Forbidden, "origin-mismatch", sentence)
            : null;
    }

    private static async Task RunAsync(HttpContext http, RequestDelegate next)
    {
        if (!IsOfApi(http))
        {
            await next(http);
            return;
        }

        http.Response.Headers.CacheControl = "no-store";
        try
        {
            await next(http);
        }
        catch (BadHttpRequestException e) when (!http.Response.HasStarted)
        {
            http.Response.StatusCode = e.StatusCode;
        }
        catch (DatabaseLostException) when (!http.Response.HasStarted)
        {
            await AdminProblem.Of(StatusCodes.Status503ServiceUnavailable, "safe-mode", "The database cannot be used. The log says why.").ExecuteAsync(http);
        }
        catch (StorageException e) when (!http.Response.HasStarted)
        {
            await (e.Fault == StorageFault.Full
                ? AdminProblem.Of(StatusCodes.Status507InsufficientStorage, "disk-full", "The disk is full.")
                : AdminProblem.Of(StatusCodes.Status503ServiceUnavailable, "safe-mode", "The data folder can't be written to.")).ExecuteAsync(http);
        }

        if (!http.Response.HasStarted && http.Response.ContentLength is null or 0 && Describe(http.Response.StatusCode) is { } problem)
        {
            var safeMode = http.Response.StatusCode == StatusCodes.Status503ServiceUnavailable ? http.RequestServices.GetRequiredService<Readiness>().SafeModeSentence : null;
            http.Response.ContentLength = null;
            await AdminProblem.Of(http.Response.StatusCode, problem.Type, safeMode ?? problem.Title).ExecuteAsync(http);
        }
    }

    private static (string Type, string Title)? Describe(int status) => status switch
    {
        StatusCodes.Status400BadRequest => ("bad-input", "The request is not of the form that this call takes."),
        StatusCodes.Status401Unauthorized => ("unauthorized", "Log in first."),
        StatusCodes.Status403Forbidden => ("unauthorized", "This is not allowed."),
        StatusCodes.Status413PayloadTooLarge => ("too-large", "The request is too long."),
        StatusCodes.Status415UnsupportedMediaType => ("bad-input", "The request is not of the form that this call takes."),
        StatusCodes.Status429TooManyRequests => ("too-many", "Too many wrong attempts. Wait a minute."),
        StatusCodes.Status503ServiceUnavailable => ("safe-mode", "The server cannot answer now. The log says why."),
        _ => null,
    };
}
