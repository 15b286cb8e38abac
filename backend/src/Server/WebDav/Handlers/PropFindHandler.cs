using Sluice.Server.WebDav.Locks;
using Sluice.Server.WebDav.Properties;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>PROPFIND of a resource and, at Depth 1, its children. Streams the children as they are read.</summary>
internal sealed class PropFindHandler(IStore store, ILockingManager locks, LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.PropFind];

    public async Task HandleAsync(DavRequest request)
    {
        var http = request.Http.Request;
        var response = request.Http.Response;
        var depth = http.Headers["Depth"].ToString();
        if (depth.Equals("infinity", StringComparison.OrdinalIgnoreCase))
        {
            await RefuseInfinityAsync(response, request.Aborted);
            return;
        }

        if (depth is not ("" or "0" or "1"))
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        var body = await DavXmlReader.ReadAsync(http.BodyReader, http.ContentLength, request.Aborted);
        var asked = PropFindRequest.From(body);
        var listed = depth == "0" ? null : request.ExistingItem as IStoreCollection;
        await WriteAsync(request, asked, listed);
    }

    private async Task WriteAsync(DavRequest request, PropFindRequest asked, IStoreCollection? listed)
    {
        var cancellationToken = request.Aborted;
        var item = request.ExistingItem;
        var href = request.Path.Href(item is IStoreCollection);

        // Read the first child before the response starts, so that an unreadable store yields 503 instead of a truncated 207.
        await using var children = listed?.ReadChildrenAsync(cancellationToken).GetAsyncEnumerator(cancellationToken);
        var more = children is not null && await children.MoveNextAsync();

        var response = request.Http.Response;
        response.StatusCode = StatusCodes.Status207MultiStatus;
        response.ContentType = "application/xml; charset=utf-8";
        if (item is IStoreCollection && !request.Path.HasTrailingSlash)
            response.Headers.ContentLocation = href;
        await response.StartAsync(cancellationToken);

        var writer = new MultiStatusWriter(response.BodyWriter, asked);
        await writer.WriteAsync(href, item, PropertiesOf(request.Path, item, request.Class), cancellationToken);
        while (more)
        {
            var child = children!.Current;
            var slash = child is IStoreCollection ? "/" : "";
            await writer.WriteAsync($"{href}{PercentEncoding.Encode(child.Name)}{slash}", child, PropertiesOf(request, child), cancellationToken);
            more = await children.MoveNextAsync();
        }

        await writer.EndAsync(cancellationToken);
    }

    private IPropertyManager PropertiesOf(DavRequest request, IStoreItem child)
    {
        if (!request.Class.HasLocks)
            return child.Properties;
        var path = request.Path.Child(child.Name);
        return store.Classify(path, child) is { } row ? PropertiesOf(path, child, row) : child.Properties;
    }

    /// <summary>Returns the properties of an item, plus the lock properties if the verb table serves LOCK here.</summary>
    private IPropertyManager PropertiesOf(DavPath path, IStoreItem item, PathClass row) =>
        row[WebDav.Verbs.Lock] == VerbAnswer.Served ? new LockProperties(item.Properties, guard.KeyOf(path), locks) : item.Properties;

    /// <summary>Refuses Depth infinity with the precondition code allowed by RFC 4918, section 9.1 (DAV-54).</summary>
    private static async Task RefuseInfinityAsync(HttpResponse response, CancellationToken cancellationToken)
    {
        response.StatusCode = StatusCodes.Status403Forbidden;
        response.ContentType = "application/xml; charset=utf-8";
        await response.WriteAsync(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>", cancellationToken);
    }
}
