using Sluice.Server.WebDav.Content;
using Sluice.Server.WebDav.Locks;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>A COPY or MOVE that passed all checks.</summary>
/// <param name="Source">The collection that contains the item.</param>
internal sealed record Transfer(IStoreCollection Source, DavPath To, StoreTransfer Target);

/// <summary>Checks a COPY or MOVE before it reaches the store (RFC 4918, sections 9.8 and 9.9; DAV-22).</summary>
internal sealed class TransferChecks(IStore store, LockGuard guard)
{
    /// <summary>Returns the transfer; null if the request was refused.</summary>
    public async ValueTask<Transfer?> AdmitAsync(DavRequest request)
    {
        var response = request.Http.Response;
        if (TryRead(request, out var to, out var mayReplace, out var isDeep) is { } refusal)
        {
            Refusal.Write(response, refusal);
            return null;
        }

        var target = await store.FindAsync(to!, request.Aborted);
        var status = await CheckAsync(request, to!, target, mayReplace, isDeep);
        if (status is not null)
        {
            Refusal.Write(response, status.Value);
            return null;
        }

        var arrival = new PlannedChange(to!, target is null ? ChangeKind.Creation : ChangeKind.Tree);
        var admitted = request.Http.Request.Method == Verbs.Move
            ? await guard.AdmitAsync(request, new PlannedChange(request.Path, ChangeKind.Tree), arrival)
            : await guard.AdmitAsync(request, arrival);
        if (!admitted)
            return null;

        if (await store.FindAsync(request.Path.Parent, request.Aborted) is not IStoreCollection source
            || await store.FindAsync(to!.Parent, request.Aborted) is not IStoreCollection collection)
        {
            Refusal.Write(response, StatusCodes.Status409Conflict);
            return null;
        }

        return new Transfer(source, to, new StoreTransfer(collection, to.Name, mayReplace, isDeep));
    }

    /// <summary>Parses the headers. Returns the status if the request is refused, or null.</summary>
    private static int? TryRead(DavRequest request, out DavPath? to, out bool mayReplace, out bool isDeep)
    {
        var http = request.Http.Request;
        var destination = http.Headers["Destination"].Count == 1
            ? ResourceReference.Parse(http.Headers["Destination"].ToString(), http)
            : new ResourceReference(ReferenceKind.Malformed, null);
        var depth = DepthHeader.Read(http.Headers, absent: Depth.Infinity);
        var overwrite = http.Headers["Overwrite"].ToString();
        to = destination.Path;
        mayReplace = !overwrite.Equals("F", StringComparison.OrdinalIgnoreCase);
        isDeep = depth == Depth.Infinity;
        if (destination.Kind == ReferenceKind.Elsewhere)
            return StatusCodes.Status502BadGateway;

        // A collection is always moved with its members. It may be copied with or without them.
        var isDepthValid = depth is Depth.Infinity
            || (depth is Depth.Zero && (http.Method == Verbs.Copy || request.ExistingItem is not IStoreCollection));
        if (to is null || !isDepthValid || overwrite is not ("" or "T" or "t" or "F" or "f"))
            return StatusCodes.Status400BadRequest;
        return null;
    }

    /// <summary>Returns the status if the request is refused, or null.</summary>
    private async ValueTask<int?> CheckAsync(DavRequest request, DavPath to, IStoreItem? target, bool mayReplace, bool isDeep)
    {
        if (request.Class[request.Http.Request.Method] != VerbAnswer.Served || request.Path.IsRoot || to.IsRoot)
            return StatusCodes.Status403Forbidden;
        if (store.Classify(to, target)?[Verbs.Put] is null or VerbAnswer.Forbidden)
            return StatusCodes.Status403Forbidden;

        var from = guard.KeyOf(request.Path);
        var end = guard.KeyOf(to);
        var isWithin = request.ExistingItem is IStoreCollection && isDeep && end.IsBelow(from);
        if (from == end || isWithin || from.IsBelow(end))
            return StatusCodes.Status403Forbidden;

        if (await store.FindAsync(to.Parent, request.Aborted) is not IStoreCollection)
            return StatusCodes.Status409Conflict;
        return Preconditions.AllowChange(request) && (mayReplace || target is null) ? null : StatusCodes.Status412PreconditionFailed;
    }
}
