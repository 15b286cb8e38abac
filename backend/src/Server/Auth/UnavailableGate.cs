using Sluice.Server.Diagnostics;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

internal interface IFilmsInMemory
{
    /// <summary>Whether the path, split into names, is a film whose segment map is in memory.</summary>
    bool Contains(string[] names);
}

/// <summary>
/// WebDAV in safe mode (DAV-6): every path responds with 503, because clients would mistake an empty tree for deleted files. The root and its README explain
/// the reason without a login. Films with a segment map in memory keep playing. Health endpoints, SABnzbd API and web UI have their own responses.
/// </summary>
internal static class UnavailableGate
{
    public const string RetryAfterSeconds = "30";

    private const string View = "view";

    /// <summary>Adds the explanation, before authentication, because logins cannot be checked in safe mode.</summary>
    public static IApplicationBuilder UseSafeModeNotice(this IApplicationBuilder app)
    {
        var readiness = app.ApplicationServices.GetRequiredService<Readiness>();
        return app.Use((context, next) =>
            readiness.SafeModeSentence is { } sentence && context.Request.Path.Value is "" or "/" or "/README" or null && !AnswersItself(context)
                ? RefuseAsync(context, sentence)
                : next(context));
    }

    /// <summary>Adds the 503 responses, after authorization.</summary>
    public static IApplicationBuilder UseUnavailableGate(this IApplicationBuilder app)
    {
        var readiness = app.ApplicationServices.GetRequiredService<Readiness>();
        var films = app.ApplicationServices.GetRequiredService<IFilmsInMemory>();
        return app.Use((context, next) => !readiness.IsSafeMode || AnswersItself(context) || PlaysOn(context, films)
            ? next(context)
            : RefuseAsync(context, ""));
    }

    /// <summary>Responds with 503, because the key of a signed link cannot be checked (DAV-85).</summary>
    public static Task RefuseLockedLinkAsync(HttpContext context) => RefuseAsync(
        context,
        $"The key of this link cannot be checked, because {context.RequestServices.GetRequiredService<SecretBox>().Cause}. The settings page says what to do.");

    private static Task RefuseAsync(HttpContext context, string sentence)
    {
        var body = sentence.Length > 0 ? System.Text.Encoding.UTF8.GetBytes(sentence + "\n") : [];
        context.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
        context.Response.Headers.RetryAfter = RetryAfterSeconds;
        context.Response.Headers.CacheControl = "no-store";
        context.Response.ContentLength = body.Length;
        if (body.Length == 0)
            return Task.CompletedTask;
        context.Response.ContentType = "text/plain; charset=utf-8";
        return HttpMethods.IsHead(context.Request.Method)
            ? Task.CompletedTask
            : context.Response.Body.WriteAsync(body, context.RequestAborted).AsTask();
    }

    private static bool AnswersItself(HttpContext context) =>
        context.GetEndpoint()?.Metadata.GetMetadata<OpenEndpoint>()?.Name is OpenEndpoint.Process or OpenEndpoint.SabApi or OpenEndpoint.Static or OpenEndpoint.Rescue;

    private static bool PlaysOn(HttpContext context, IFilmsInMemory films)
    {
        if (!HttpMethods.IsGet(context.Request.Method) && !HttpMethods.IsHead(context.Request.Method))
            return false;
        var names = (context.Request.Path.Value ?? "").Split('/', StringSplitOptions.RemoveEmptyEntries);
        return films.Contains(names is [View, .. var linked] ? linked : names);
    }
}
