using System.Buffers;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Http.Timeouts;
using Sluice.Server.WebDav.Content;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>
/// GET and HEAD of a file (section 7 of the WebDAV contract). Checks conditions before opening anything, and HEAD opens nothing. Reads the first byte before
/// sending headers. Resets the connection if the body is incomplete, so that the client does not mistake it for the whole file.
/// </summary>
internal sealed class GetAndHeadHandler : IRequestHandler
{
    private readonly CurrentDavOptions _options;
    private readonly IHostApplicationLifetime _lifetime;
    private readonly TimeProvider _time;
    private readonly ILogger<GetAndHeadHandler> _log;

    public GetAndHeadHandler(CurrentDavOptions options, IHostApplicationLifetime lifetime, TimeProvider time, ILogger<GetAndHeadHandler> log)
    {
        _options = options;
        _lifetime = lifetime;
        _time = time;
        _log = log;
    }

    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Get, WebDav.Verbs.Head];

    public async Task HandleAsync(DavRequest request)
    {
        var file = request.ExistingItem switch
        {
            IStoreFile found => found,
            IStoreCollection collection => collection.Index,
            _ => null,
        };
        if (file is null)
        {
            Refusal.Write(request.Http.Response, StatusCodes.Status404NotFound);
            return;
        }

        var response = request.Http.Response;
        var conditions = Preconditions.Parse(request.Http.Request.Headers);
        switch (conditions.Evaluate(isRead: true, file.ETag, file.LastModified))
        {
            case PreconditionOutcome.Failed:
                Refusal.Write(response, StatusCodes.Status412PreconditionFailed);
                return;
            case PreconditionOutcome.NotModified:
                response.StatusCode = StatusCodes.Status304NotModified;
                ContentHeaders.WriteValidators(response.Headers, file);
                return;
        }

        if (HttpMethods.IsHead(request.Http.Request.Method))
            ContentHeaders.WriteContent(response.Headers, file, ByteRange.Whole(file.Length));
        else
            await SendAsync(request, file.For(request.Http), Ask(request, file, conditions));
    }

    private static IReadOnlyList<ByteRange> Ask(DavRequest request, IStoreFile file, Preconditions conditions)
    {
        var headers = request.Http.Request.Headers;
        var counts = headers.Range.Count == 1 && conditions.AllowsRange(file.ETag, file.LastModified);
        return RangeHeader.Parse(counts ? headers.Range[0] : null, file.Length);
    }

    private async Task SendAsync(DavRequest request, IStoreFile file, IReadOnlyList<ByteRange> ranges)
    {
        var response = request.Http.Response;
        var range = ranges[0];
        if (range.Kind == RangeKind.Unsatisfiable)
        {
            Refusal.Write(response, StatusCodes.Status416RangeNotSatisfiable);
            response.Headers.ContentRange = range.ContentRange;
            response.Headers.AcceptRanges = "bytes";
            return;
        }

        if (range.Length == 0)
        {
            ContentHeaders.WriteContent(response.Headers, file, range);
            return;
        }

        var limit = _options().FirstByteTimeout;
        FileBody body;
        try
        {
            body = await FileBody.OpenAsync(file, range, limit, _time, _options().SincePaced, request.Aborted);
        }
        catch (ContentUnavailableException unavailable)
        {
            WebDavLog.BodyRefused(_log, unavailable.Fault, unavailable.Message);
            await RefuseAsync(response, unavailable, request.Aborted);
            return;
        }

        await using (body)
        {
            response.StatusCode = range.Kind == RangeKind.Part ? StatusCodes.Status206PartialContent : StatusCodes.Status200OK;
            if (ranges.Count == 1)
            {
                ContentHeaders.WriteContent(response.Headers, file, range);
                await CopyAsync(request, client => CopyBodyAsync(request, body, client, limit * 2));
            }
            else
            {
                var parts = new MultipartRanges(ranges, file.ContentType);
                ContentHeaders.WriteContent(response.Headers, file, parts);
                await CopyAsync(request, client => CopyPartsAsync(request, file, parts, body, client, limit * 2));
            }
        }
    }

    /// <summary>Copies the parts in order. Opens each part only when its turn comes, so that it holds no resources until then.</summary>
    private async Task<bool> CopyPartsAsync(
        DavRequest request, IStoreFile file, MultipartRanges parts, FileBody first, ClientProgress client, TimeSpan limit)
    {
        var output = request.Http.Response.BodyWriter;
        for (var i = 0; i < parts.Parts.Count; i++)
        {
            await using var body = i == 0 ? first : await FileBody.OpenAsync(file, parts.Parts[i], limit, _time, _options().SincePaced, request.Aborted);
            output.Write(parts.HeadOf(i).Span);
            if (!await CopyBodyAsync(request, body, client, limit))
                return false;
        }

        output.Write(parts.Tail.Span);
        return await client.FlushAsync(output);
    }

    private static Task<bool> CopyBodyAsync(DavRequest request, FileBody body, ClientProgress client, TimeSpan limit) =>
        body.CopyToAsync(request.Http.Response.BodyWriter, request.Http.Features.Get<IBlockOutput>(), client, limit);

    private async Task CopyAsync(DavRequest request, Func<ClientProgress, Task<bool>> copy)
    {
        var socket = request.Http.Features.Get<IConnectionSocketFeature>()?.Socket;
        var client = new ClientProgress(socket, _options().WriteTimeout, _time, request.Aborted);
        await using var drain = new DrainWatch(client, request.Http.Abort, _time, _lifetime.ApplicationStopping);

        // Allow any duration, because a player may pause for hours, and a paused response holds no scarce resource.
        request.Http.Features.Get<IHttpRequestTimeoutFeature>()?.DisableTimeout();
        try
        {
            await request.Http.Response.StartAsync(request.Aborted);
            if (!await copy(client))
                request.Http.Abort();
        }
        catch (ContentUnavailableException unavailable)
        {
            WebDavLog.BodyCut(_log, unavailable.Fault, unavailable.Message);
            request.Http.Abort();
        }
    }

    /// <summary>Responds with 410 so that the client gives up, or with 503 so that it retries (DAV-71). Neither must be cached.</summary>
    private static async Task RefuseAsync(HttpResponse response, ContentUnavailableException unavailable, CancellationToken cancellationToken)
    {
        var gone = unavailable.Fault == ContentFault.Gone;
        response.StatusCode = gone ? StatusCodes.Status410Gone : StatusCodes.Status503ServiceUnavailable;
        response.Headers.CacheControl = "no-store";
        if (!gone)
            response.Headers.RetryAfter = "5";
        response.ContentType = "text/plain; charset=utf-8";
        await response.WriteAsync(unavailable.Message + "\n", cancellationToken);
    }
}
