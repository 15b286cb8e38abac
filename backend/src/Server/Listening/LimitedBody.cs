using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Listening;

/// <summary>Limits every request body, and marks requests that have a valid credential. Only marked requests may raise their limit (S26).</summary>
internal static class ProvedRequests
{
    /// <summary>Default maximum body in bytes, and the only limit for requests without a valid credential.</summary>
    public const long MaxOrdinaryBytes = 64 << 10;

    /// <summary>Limits every body. Call before routing.</summary>
    public static IApplicationBuilder UseBodyLimits(this IApplicationBuilder app) => app.Use((context, next) =>
    {
        var body = new LimitedBody(context.Request.Body, context.Request.ContentLength, MaxOrdinaryBytes);
        context.Request.Body = body;
        context.Features.Set<IHttpMaxRequestBodySizeFeature>(body);
        return next(context);
    });

    /// <summary>Marks requests accepted by authorization. Endpoints with other credentials must call <see cref="Prove"/>.</summary>
    public static IApplicationBuilder UseProvedRequests(this IApplicationBuilder app) => app.Use((context, next) =>
    {
        if (context.User.Identity is { IsAuthenticated: true })
            context.Prove();
        return next(context);
    });

    /// <summary>Marks the sender as authenticated, which exempts its connection from the limits for strangers and allows a longer body.</summary>
    public static void Prove(this HttpContext context)
    {
        context.Features.Get<ClientPlace>()?.Prove();
        BodyOf(context).Prove();
    }

    /// <summary>Sets the maximum body length. Only an authenticated request may raise the limit.</summary>
    /// <exception cref="InvalidOperationException">The request is not authenticated.</exception>
    public static void AllowBody(this HttpContext context, long length) => BodyOf(context).Allow(length);

    /// <summary>Raises the limit to the maximum upload.</summary>
    /// <exception cref="InvalidOperationException">The request is not authenticated.</exception>
    public static void AllowUpload(this HttpContext context) => context.AllowBody(UploadLimit(context));

    /// <summary>Accepts the Content-Length of an upload before its sender is authenticated.</summary>
    public static void AnnounceUpload(this HttpContext context) => BodyOf(context).Announce(UploadLimit(context));

    private static LimitedBody BodyOf(HttpContext context) => (LimitedBody)context.Features.GetRequiredFeature<IHttpMaxRequestBodySizeFeature>();

    private static long UploadLimit(HttpContext context) => context.RequestServices.GetRequiredService<ProcessOptions>().MaxRequestBodySize;
}

/// <summary>
/// A request body that fails with 413 beyond its limit (S26). It counts delivered bytes, because Kestrel's count includes chunk framing, so the limit is exact
/// with and without Content-Length. Replaces Kestrel's feature, so that endpoints set limits in the usual way. If an endpoint must read the body to
/// authenticate the sender, it announces the later limit in advance.
/// </summary>
internal sealed class LimitedBody(Stream inner, long? contentLength, long limit) : ForwardStream, IHttpMaxRequestBodySizeFeature
{
    private long _limit = limit;
    private long _announced = limit;
    private long _read;
    private bool _isProved;

    public bool IsReadOnly { get; private set; }

    public long? MaxRequestBodySize
    {
        get => _limit;
        set => Allow(IsReadOnly ? throw new InvalidOperationException("The body is being read.") : value ?? long.MaxValue);
    }

    /// <summary>Accepts a Content-Length up to this value. Reading stays limited until <see cref="Allow"/> is called.</summary>
    public void Announce(long length) => _announced = length;

    public void Prove() => _isProved = true;

    /// <summary>Sets the limit, even while the body is being read.</summary>
    /// <exception cref="InvalidOperationException">The new limit is higher, but the request is not authenticated.</exception>
    public void Allow(long length) => _limit = _announced = length <= _limit || _isProved
        ? length
        : throw new InvalidOperationException("Nothing raises the limit of a request that is not proved.");

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        IsReadOnly = true;
        // Refuse an excessive Content-Length early, before the client sends the body.
        Require(contentLength ?? 0, _announced);
        var read = await ReadInnerAsync(buffer, cancellationToken);
        _read += read;
        Require(_read, _limit);
        return read;
    }

    private async ValueTask<int> ReadInnerAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        try
        {
            return await inner.ReadAsync(buffer, cancellationToken);
        }
        catch (IOException e) when (e.InnerException is OverflowException)
        {
            // Kestrel throws this for a chunk length beyond 64 bits.
            throw new BadHttpRequestException("Bad chunk size.", StatusCodes.Status400BadRequest, e);
        }
    }

    private static void Require(long length, long limit)
    {
        if (length > limit)
            throw new BadHttpRequestException("Request body too large.", StatusCodes.Status413PayloadTooLarge);
    }
}
