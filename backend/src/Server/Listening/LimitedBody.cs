using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Listening;

/// <summary>
/// Sets the limit of every request, and marks the requests of clients that have shown a right credential: only these can raise theirs, whatever the
/// endpoint (S26).
/// </summary>
internal static class ProvedRequests
{
    /// <summary>The longest body of a client that has proved nothing; also of a request that needs no longer one.</summary>
    public const long MaxOrdinaryBytes = 64 << 10;

    /// <summary>Limits every body, before routing.</summary>
    public static IApplicationBuilder UseBodyLimits(this IApplicationBuilder app) => app.Use((context, next) =>
    {
        var body = new LimitedBody(context.Request.Body, context.Request.ContentLength, MaxOrdinaryBytes);
        context.Request.Body = body;
        context.Features.Set<IHttpMaxRequestBodySizeFeature>(body);
        return next(context);
    });

    /// <summary>Adds the mark for requests whose credentials authorization has found right, behind it. Other credentials are judged by their endpoints.</summary>
    public static IApplicationBuilder UseProvedRequests(this IApplicationBuilder app) => app.Use((context, next) =>
    {
        if (context.User.Identity is { IsAuthenticated: true })
            context.Prove();
        return next(context);
    });

    /// <summary>The sender of this request has shown a right credential: its connection is no stranger's any more, and its body may be longer.</summary>
    public static void Prove(this HttpContext context)
    {
        context.Features.Get<ClientPlace>()?.Prove();
        BodyOf(context).Prove();
    }

    /// <summary>Lets the body of a request be as long as this, from here on; longer than before only if the request is proved.</summary>
    /// <exception cref="InvalidOperationException">It is not.</exception>
    public static void AllowBody(this HttpContext context, long length) => BodyOf(context).Allow(length);

    /// <summary>Lets the body of a proved request be as long as an upload may be, from here on.</summary>
    /// <exception cref="InvalidOperationException">The request is not proved.</exception>
    public static void AllowUpload(this HttpContext context) => context.AllowBody(UploadLimit(context));

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
/// Takes the place of Kestrel's feature, so endpoints set their limit in the usual way, before they read; only a proved request gets a longer one.
/// An endpoint that has to read before it knows the sender announces the limit that may follow.
/// </remarks>
internal sealed class LimitedBody(Stream inner, long? contentLength, long limit) : ForwardStream, IHttpMaxRequestBodySizeFeature
{
    private long _limit = limit;
    private long _announced = limit;
    private long _read;
    private bool _isProved;

    /// <inheritdoc/>
    public bool IsReadOnly { get; private set; }

    /// <inheritdoc/>
    public long? MaxRequestBodySize
    {
        get => _limit;
        set => Allow(IsReadOnly ? throw new InvalidOperationException("The body is being read.") : value ?? long.MaxValue);
    }

    /// <summary>Lets a body be announced that may be allowed later; until then no more of it is read than before.</summary>
    public void Announce(long length) => _announced = length;

    /// <summary>The sender has shown a right credential.</summary>
    public void Prove() => _isProved = true;

    /// <summary>Sets the limit, also while the body is read.</summary>
    /// <exception cref="InvalidOperationException">It is longer than before, and the request is not proved.</exception>
    public void Allow(long length) => _limit = _announced = length <= _limit || _isProved
        ? length
        : throw new InvalidOperationException("Nothing raises the limit of a request that is not proved.");

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

    private static void Require(long length, long limit)
    {
        if (length > limit)
            throw new BadHttpRequestException("Request body too large.", StatusCodes.Status413PayloadTooLarge);
    }
}
