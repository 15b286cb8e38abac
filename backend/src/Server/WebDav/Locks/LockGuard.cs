using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Locks;

internal enum ChangeKind
{
    /// <summary>The item's content or properties change.</summary>
    Content,

    /// <summary>A new item is created, so the parent collection changes too.</summary>
    Creation,

    /// <summary>The item and everything below it are removed or replaced.</summary>
    Tree,
}

internal readonly record struct PlannedChange(DavPath Path, ChangeKind Kind);

/// <summary>Checks the <c>If</c> header and the locks before a request changes anything (RFC 4918, sections 7 and 10.4; DAV-46).</summary>
internal sealed class LockGuard(IStore store, ILockingManager locks)
{
    public LockKey KeyOf(DavPath path) => LockKey.Of(store.Canonicalize(path));

    /// <summary>Returns true if the request may continue. Otherwise responds with 400, 412 or 423.</summary>
    public async ValueTask<bool> AdmitAsync(DavRequest request, params PlannedChange[] changes)
    {
        var response = request.Http.Response;
        if (!TryReadIf(request, out var header))
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return false;
        }

        if (header is not null && !await HoldsAsync(header, request))
        {
            Refusal.Write(response, StatusCodes.Status412PreconditionFailed);
            return false;
        }

        HashSet<string> submitted = header is null ? [] : [.. header.Submitted];
        string[] locked = [.. changes.SelectMany(Needed).Distinct()
            .Select(locks.Covering)
            .Where(held => held.Count > 0 && !held.Any(one => submitted.Contains(one.Token)))
            .Select(held => held[0].Terms.Href)
            .Distinct()];
        if (locked.Length == 0)
            return true;
        await DavError.WriteAsync(response, StatusCodes.Status423Locked, "lock-token-submitted", locked, request.Aborted);
        return false;
    }

    /// <summary>Reads the header; null if absent. Returns false if it is malformed.</summary>
    public static bool TryReadIf(DavRequest request, out IfHeader? header)
    {
        header = null;
        var value = request.Http.Request.Headers["If"];
        return value.Count == 0 || (value.Count == 1 && IfHeader.TryParse(value.ToString(), out header));
    }

    /// <summary>Returns the paths that a change affects. For each path that is locked, the client must submit the token of one of the locks.</summary>
    private IEnumerable<LockKey> Needed(PlannedChange change)
    {
        var key = KeyOf(change.Path);
        yield return key;
        if (change.Kind != ChangeKind.Content)
            yield return key.Parent;
        if (change.Kind != ChangeKind.Tree)
            yield break;
        foreach (var held in locks.Below(key))
            yield return held.Terms.Root;
    }

    private async ValueTask<bool> HoldsAsync(IfHeader header, DavRequest request)
    {
        var own = new ResourceState(TokensOf(request.Path), (request.Item as IStoreFile)?.ETag);
        var states = new Dictionary<string, ResourceState>(StringComparer.Ordinal);
        foreach (var resource in header.Lists.Select(list => list.Resource).OfType<string>().Distinct())
            states[resource] = await ReadStateAsync(resource, request);
        return header.Holds(resource => resource is null ? own : states[resource]);
    }

    /// <summary>Reads the state of a tagged resource. A resource outside the tree has no state, so that only negated conditions hold.</summary>
    private async ValueTask<ResourceState> ReadStateAsync(string resource, DavRequest request)
    {
        var reference = ResourceReference.Parse(resource, request.Http.Request);
        if (reference.Path is not { } path)
            return new ResourceState([], null);
        var item = await store.FindAsync(path, request.Aborted);
        return new ResourceState(TokensOf(path), (item as IStoreFile)?.ETag);
    }

    private string[] TokensOf(DavPath path) => [.. locks.Covering(KeyOf(path)).Select(held => held.Token)];
}
