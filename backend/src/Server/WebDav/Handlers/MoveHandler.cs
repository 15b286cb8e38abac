using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>MOVE, performed by the collection that contains the item. Drops the item's locks, because locks do not move (RFC 4918, section 7.7).</summary>
internal sealed class MoveHandler(TransferChecks checks, LockGuard guard, ILockingManager locks) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Move];

    public async Task HandleAsync(DavRequest request)
    {
        if (await checks.AdmitAsync(request) is not { } transfer)
            return;
        var answer = await transfer.Source.MoveItemAsync(request.Path.Name, transfer.Target, request.Aborted);
        if (answer is StoreAnswer.Done or StoreAnswer.Created)
        {
            locks.Forget(guard.KeyOf(request.Path), itself: true);
            locks.Forget(guard.KeyOf(transfer.To), itself: false);
        }

        Refusal.Write(request.Http.Response, StoreStatus.For(answer));
    }
}
