namespace Sluice.Server.WebDav;

/// <summary>MOVE: asks the collection that holds the item. Locks do not move with it: they end (RFC 4918, section 7.7).</summary>
internal sealed class MoveHandler(TransferChecks checks, LockGuard guard, ILockingManager locks) : IRequestHandler
{
    /// <inheritdoc/>
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Move];

    /// <inheritdoc/>
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
