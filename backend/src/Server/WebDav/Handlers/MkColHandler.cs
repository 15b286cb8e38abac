using Microsoft.AspNetCore.Http.Features;
using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>MKCOL on an unused name (DAV-44), performed by the parent collection.</summary>
internal sealed class MkColHandler(IStore store, LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.MkCol];

    public async Task HandleAsync(DavRequest request)
    {
        var response = request.Http.Response;
        var hasBody = request.Http.Request.ContentLength is not 0
            && request.Http.Features.Get<IHttpRequestBodyDetectionFeature>() is { CanHaveBody: true };
        if (hasBody)
        {
            // RFC 4918, section 9.3, defines no format for the body of MKCOL.
            Refusal.Write(response, StatusCodes.Status415UnsupportedMediaType);
            return;
        }

        if (await store.FindAsync(request.Path.Parent, request.Aborted) is not IStoreCollection parent)
        {
            Refusal.Write(response, StatusCodes.Status409Conflict);
            return;
        }

        if (!await guard.AdmitAsync(request, new PlannedChange(request.Path, ChangeKind.Creation)))
            return;
        var answer = await parent.CreateCollectionAsync(request.Path.Name, request.Aborted);
        Refusal.Write(response, StoreStatus.For(answer));
    }
}
