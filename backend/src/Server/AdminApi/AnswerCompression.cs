using System.IO.Compression;
using Microsoft.AspNetCore.ResponseCompression;
using Microsoft.Extensions.Options;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Compresses the JSON of the admin API, because each row repeats the field names. The event stream is not compressed, because a compressor delays frames.
/// Neither is a response whose stated length fits in one packet.
/// </summary>
internal static class AnswerCompression
{
    private const int LeastBytes = 1024;

    public static IServiceCollection AddAnswerCompression(this IServiceCollection services) => services
        .AddResponseCompression(options =>
        {
            // HTTPS compression is safe from BREACH, because cookies are SameSite=Strict. No other site can put its own text next to a secret in a response.
            options.EnableForHttps = true;
            options.MimeTypes = ["application/json", "application/problem+json"];
        })
        .Configure<BrotliCompressionProviderOptions>(static options => options.Level = CompressionLevel.Fastest)
        .Configure<GzipCompressionProviderOptions>(static options => options.Level = CompressionLevel.Fastest)
        .AddSingleton<IResponseCompressionProvider, LongAnswers>();

    /// <summary>Compresses responses below <c>/api/</c>. The SABnzbd API, which very old clients also use, is at <c>/api</c> itself.</summary>
    public static void UseAnswerCompression(this IApplicationBuilder app) => app.UseWhen(
        static http => http.Request.Path.StartsWithSegments("/api", out var rest) && rest.Value?.Length > 1, static api => api.UseResponseCompression());

    private sealed class LongAnswers(IServiceProvider services, IOptions<ResponseCompressionOptions> options)
        : ResponseCompressionProvider(services, options)
    {
        public override bool ShouldCompressResponse(HttpContext context) =>
            context.Response.ContentLength is not < LeastBytes && base.ShouldCompressResponse(context);
    }
}
