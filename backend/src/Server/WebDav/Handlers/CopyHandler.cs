namespace Sluice.Server.WebDav;

/// <summary>COPY: asks the collection that holds the original. Its locks stay where they are.</summary>
internal sealed class CopyHandler(TransferChecks checks, LockGuard guard, ILockingManager locks) : IRequestHandler
{
    /// <inheritdoc/>
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Copy];

    /// <inheritdoc/>
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
