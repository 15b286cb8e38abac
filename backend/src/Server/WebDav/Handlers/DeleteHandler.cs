using Sluice.Server.WebDav.Content;
using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>DELETE, performed by the collection that contains the item.</summary>
internal sealed class DeleteHandler(IStore store, ILockingManager locks, LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Delete];

    public async Task HandleAsync(DavRequest request)
    {
        var response = request.Http.Response;
        if (DepthHeader.Read(request.Http.Request.Headers, absent: Depth.Infinity) is null)
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        if (!Preconditions.AllowChange(request))
        {
            Refusal.Write(response, StatusCodes.Status412PreconditionFailed);
            return;
        }

        if (request.Path.IsRoot || await store.FindAsync(request.Path.Parent, request.Aborted) is not IStoreCollection parent)
        {
            Refusal.Write(response, StatusCodes.Status403Forbidden);
            return;
        }

        if (!await guard.AdmitAsync(request, new PlannedChange(request.Path, ChangeKind.Tree)))
            return;
        var answer = await parent.DeleteItemAsync(request.Path.Name, request.Aborted);
        if (answer == StoreAnswer.Done)
            locks.Forget(guard.KeyOf(request.Path), itself: true);
        Refusal.Write(response, StoreStatus.For(answer));
    }
}
