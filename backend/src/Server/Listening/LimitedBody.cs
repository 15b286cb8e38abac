using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Listening;

/// <summary>Sets the limit of every request, and lifts it for uploads.</summary>
internal static class BodyLimits
{
    // A body that is no upload is a small XML document at most (S26).
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

/// <summary>
/// The body of a request, which ends with 413 when it is longer than allowed. Counts the bytes that the endpoint gets, so the limit is
/// exact with and without Content-Length; Kestrel's own count includes the framing of chunks (S26).
/// </summary>
/// <remarks>
/// Takes the place of Kestrel's feature, so endpoints set their limit in the usual way, before they read. An endpoint that has to read
/// before it knows the sender announces the limit that may follow, and sets it when the sender is known.
/// </remarks>
internal sealed class LimitedBody(Stream inner, long? contentLength, long limit) : ForwardStream, IHttpMaxRequestBodySizeFeature
{
    private long? _limit = limit;
    private long? _announced = limit;
    private long _read;

    /// <inheritdoc/>
    public bool IsReadOnly { get; private set; }

    /// <inheritdoc/>
    public long? MaxRequestBodySize
    {
        get => _limit;
        set => _limit = _announced = IsReadOnly ? throw new InvalidOperationException("The body is being read.") : value;
    }

    /// <summary>Lets a body be announced that may be allowed later; until then no more of it is read than before.</summary>
    public void Announce(long length) => _announced = length;

    /// <summary>Raises the limit, also while the body is read.</summary>
    public void Allow(long length) => _limit = _announced = length;

    /// <inheritdoc/>
    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        IsReadOnly = true;
        // A length that is announced is refused before a client sends the body to it.
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
            // How Kestrel reports the length of a chunk that needs more than 64 bits.
            throw new BadHttpRequestException("Bad chunk size.", StatusCodes.Status400BadRequest, e);
        }
    }

    private static void Require(long length, long? limit)
    {
        if (length > limit)
            throw new BadHttpRequestException("Request body too large.", StatusCodes.Status413PayloadTooLarge);
    }
}
