namespace Sluice.Server.WebDav;

/// <summary>DELETE: asks the collection that holds the name.</summary>
internal sealed class DeleteHandler : IRequestHandler
{
    private readonly IStore _store;

    public DeleteHandler(IStore store) => _store = store;

    /// <inheritdoc />
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Delete];

    /// <inheritdoc />
    public async Task HandleAsync(DavRequest request)
    {
        HttpResponse response = request.Http.Response;
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

        StoreAnswer answer = await parent.DeleteItemAsync(request.Path.Name, request.Aborted);
        Refusal.Write(response, StoreStatus.For(answer));
    }
}
