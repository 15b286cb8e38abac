using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.AdminApi;

/// <summary>Marks the endpoints of the admin API.</summary>
internal sealed class AdminEndpoint;

/// <summary>What every call of the admin API passes: the rules for browsers (ADM-2), and errors in one form (ADM-3).</summary>
internal static class AdminGate
{
    private const long MaxBody = 1 << 20;

    /// <summary>
    /// Adds the gate, behind routing and before authorization: a refusal of a later part gets the form of this API, and so does a body that
    /// cannot be read.
    /// </summary>
    public static IApplicationBuilder UseAdminGate(this IApplicationBuilder app) => app.Use(RunAsync);

    /// <summary>
    /// Adds what callers may do, behind authorization: it is judged before anything of the body is read, so that what a refused
    /// caller sends is not looked at.
    /// </summary>
    public static IApplicationBuilder UseAdminRights(this IApplicationBuilder app) => app.Use((http, next) =>
        IsOfApi(http) && Refuse(http) is { } problem ? problem.ExecuteAsync(http) : next(http));

    /// <summary>
    /// Why the page that a request comes from is refused; null where it is not: host and port of its Origin are those that the request was sent
    /// to, or those of <c>general.base-url</c>.
    /// </summary>
    /// <param name="http">The request.</param>
    /// <param name="isNeeded">Whether a request without the header is refused.</param>
    public static string? OriginRefused(HttpContext http, bool isNeeded)
    {
        var origin = http.Request.Headers.Origin.ToString();
        if (origin.Length == 0)
            return isNeeded ? "The header Origin is missing." : null;
        var baseUrl = http.RequestServices.GetRequiredService<SettingsSource>().Current.Text("general.base-url");
        if (Uri.TryCreate(origin, UriKind.Absolute, out var from)
            && (IsOf(from, http.Request.Host) || (Uri.TryCreate(baseUrl, UriKind.Absolute, out var known) && IsOf(from, new HostString(known.Authority)))))
        {
            return null;
        }

        return $"The page comes from {Shown(origin)}, and the request was sent to {Shown(http.Request.Host.Value ?? "")}. Set general.base-url to the address in the browser.";
    }

    private static bool IsOfApi(HttpContext http) => http.GetEndpoint()?.Metadata.GetMetadata<AdminEndpoint>() is not null;

    /// <summary>Why a call may not go on; null where it may.</summary>
    private static JsonHttpResult<Problem>? Refuse(HttpContext http)
    {
        if (HttpMethods.IsGet(http.Request.Method) || HttpMethods.IsHead(http.Request.Method))
            return null;
        var kind = http.User.FindFirst(AdminDoor.Kind)?.Value;
        if (kind == AdminDoor.ReadKey)
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "unauthorized", "This key may only read.");
        if (kind == AdminDoor.Session && http.Request.Headers["X-Csrf"] != "1")
            return AdminProblem.Of(StatusCodes.Status403Forbidden, "csrf", "The header X-Csrf is missing.");
        return kind is not AdminDoor.FullKey && OriginRefused(http, isNeeded: kind == AdminDoor.Session) is { } sentence
            ? AdminProblem.Of(StatusCodes.Status403Forbidden, "origin-mismatch", sentence)
            : null;
    }

    private static bool IsOf(Uri origin, HostString host)
    {
        var isPlain = host.Port is null or 80 or 443;
        return origin.Host.Equals(host.Host, StringComparison.OrdinalIgnoreCase)
            && (origin.Port == host.Port || (isPlain && (origin.IsDefaultPort || origin.Port is 80 or 443)));
    }

    private static string Shown(string text) => new([.. text.Take(100).Where(c => !char.IsControl(c))]);

    private static async Task RunAsync(HttpContext http, RequestDelegate next)
    {
        if (!IsOfApi(http))
        {
            await next(http);
            return;
        }

        if (http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } body)
            body.MaxRequestBodySize = MaxBody;
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
                : AdminProblem.Of(StatusCodes.Status503ServiceUnavailable, "safe-mode", "The storage cannot be written.")).ExecuteAsync(http);
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
