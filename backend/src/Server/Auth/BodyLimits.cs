using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.Settings;

namespace Sluice.Server.Auth;

/// <summary>Sets the limit of every request, and lifts it for uploads.</summary>
internal static class BodyLimits
{
    // What is no upload is a small XML document at most (S26).
    private const long MaxOrdinaryBytes = 64 << 10;

    /// <summary>Limits every body; before routing, so that endpoints can raise it.</summary>
    public static IApplicationBuilder UseBodyLimits(this IApplicationBuilder app) => app.Use((context, next) =>
    {
        var body = new LimitedBody(context.Request.Body, context.Request.ContentLength, MaxOrdinaryBytes);
        context.Request.Body = body;
        context.Features.Set<IHttpMaxRequestBodySizeFeature>(body);
        return next(context);
    });

    /// <summary>Lets the body of this request be as long as an upload may be, from here on.</summary>
    public static void AllowUpload(this HttpContext context) => BodyOf(context).Allow(UploadLimit(context));

    /// <summary>Lets an upload be announced whose sender is not known yet.</summary>
    public static void AnnounceUpload(this HttpContext context) => BodyOf(context).Announce(UploadLimit(context));

    private static LimitedBody BodyOf(HttpContext context) => (LimitedBody)context.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>();

    private static long UploadLimit(HttpContext context) => context.RequestServices.GetRequiredService<ProcessOptions>().MaxRequestBodySize;
}
