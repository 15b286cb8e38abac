namespace Sluice.Server.WebDav;

/// <summary>DELETE: asks the collection that holds the name.</summary>
internal sealed class DeleteHandler : IRequestHandler
{
    private readonly IStore _store;
    private readonly ILockingManager _locks;
    private readonly LockGuard _guard;

    public DeleteHandler(IStore store, ILockingManager locks, LockGuard guard)
    {
        _store = store;
        _locks = locks;
        _guard = guard;
    }

    /// <inheritdoc />
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Delete];

    /// <inheritdoc />
    public async Task HandleAsync(DavRequest request)
    {
        HttpResponse response = request.Http.Response;
        if (DepthHeader.Read(request.Http.Request.Headers, absent: Depth.Infinity) is null)
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        var current = request.ExistingItem as IStoreFile;
        Preconditions conditions = Preconditions.Parse(request.Http.Request.Headers);
        if (conditions.Evaluate(isRead: false, current?.ETag, request.ExistingItem.LastModified) != PreconditionOutcome.Proceed)
        {
            Refusal.Write(response, StatusCodes.Status412PreconditionFailed);
            return;
        }

        if (request.Path.IsRoot || await _store.FindAsync(request.Path.Parent, request.Aborted) is not IStoreCollection parent)
        {
            Refusal.Write(response, StatusCodes.Status403Forbidden);
            return;
        }

        if (!await _guard.AdmitAsync(request, new PlannedChange(request.Path, ChangeKind.Tree)))
            return;
        StoreAnswer answer = await parent.DeleteItemAsync(request.Path.Name, request.Aborted);
        if (answer == StoreAnswer.Done)
            _locks.Forget(_guard.KeyOf(request.Path), itself: true);
        Refusal.Write(response, StoreStatus.For(answer));
    }
}
