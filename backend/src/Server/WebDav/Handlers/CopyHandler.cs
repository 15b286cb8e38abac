using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>COPY, performed by the collection that contains the original. Locks are not copied.</summary>
internal sealed class CopyHandler(TransferChecks checks, LockGuard guard, ILockingManager locks) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Copy];

    public async Task HandleAsync(DavRequest request)
    {
        if (await checks.AdmitAsync(request) is not { } transfer)
            return;
        var answer = await transfer.Source.CopyItemAsync(request.Path.Name, transfer.Target, request.Aborted);
        if (answer == StoreAnswer.Done)
            locks.Forget(guard.KeyOf(transfer.To), itself: false);
        Refusal.Write(request.Http.Response, StoreStatus.For(answer));
    }
}
