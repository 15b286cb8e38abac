using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.WebDav.Content;
using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>PUT, performed by the parent collection. All checks come before the first read of the body.</summary>
internal sealed class PutHandler(IStore store, LockGuard guard, CurrentDavOptions options) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Put];

    public async Task HandleAsync(DavRequest request)
    {
        var response = request.Http.Response;
        var headers = request.Http.Request.Headers;
        if (headers.ContentRange.Count > 0)
        {
            // RFC 9110, section 14.4: storing a partial PUT as the whole file would corrupt the file.
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        if (request.Path.IsRoot || request.Path.HasTrailingSlash || request.Item is IStoreCollection)
        {
            Refusal.Write(response, StatusCodes.Status403Forbidden);
            return;
        }

        if (await store.FindAsync(request.Path.Parent, request.Aborted) is not IStoreCollection parent)
        {
            Refusal.Write(response, StatusCodes.Status409Conflict);
            return;
        }

        if (!Preconditions.AllowChange(request))
        {
            Refusal.Write(response, StatusCodes.Status412PreconditionFailed);
            return;
        }

        var kind = request.Item is null ? ChangeKind.Creation : ChangeKind.Content;
        if (await guard.AdmitAsync(request, new PlannedChange(request.Path, kind)))
            await UploadAsync(request, parent);
    }

    private async Task UploadAsync(DavRequest request, IStoreCollection parent)
    {
        var limit = options().MaxUploadBytes;
        var length = request.Http.Request.ContentLength;
        if (length > limit)
        {
            Refusal.Write(request.Http.Response, StatusCodes.Status413PayloadTooLarge);
            return;
        }

        // LimitedBody counts the bytes itself and responds to a longer body with 413.
        if (request.Http.Features.Get<IHttpMaxRequestBodySizeFeature>() is { IsReadOnly: false } size)
            size.MaxRequestBodySize = limit;
        var mayReplace = EntityTagCondition.Parse(request.Http.Request.Headers.IfNoneMatch) is not { IsAny: true };
        var upload = new StoreUpload(request.Http.Request.Body, length, mayReplace);
        var answer = await parent.PutItemAsync(request.Path.Name, upload, request.Aborted);
        Refusal.Write(request.Http.Response, StoreStatus.For(answer));
    }
}
