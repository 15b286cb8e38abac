using Sluice.Server.WebDav.Locks;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>LOCK: creates a lock, plus an empty file if the name is unused (RFC 4918, section 9.10), or refreshes an existing lock.</summary>
internal sealed class LockHandler(IStore store, ILockingManager locks, LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.Lock];

    public async Task HandleAsync(DavRequest request)
    {
        var http = request.Http.Request;
        var body = await DavXmlReader.ReadAsync(http.BodyReader, http.ContentLength, request.Aborted);
        var timeout = LockTimeout.Parse(http.Headers["Timeout"].ToString());
        if (body is null)
            await RefreshAsync(request, timeout);
        else
            await CreateAsync(request, LockRequest.From(body), timeout);
    }

    private async Task RefreshAsync(DavRequest request, TimeSpan timeout)
    {
        if (!LockGuard.TryReadIf(request, out var header) || header is null)
        {
            Refusal.Write(request.Http.Response, StatusCodes.Status400BadRequest);
            return;
        }

        // A refresh changes no item, so locks cannot prevent it. The If header must still hold.
        if (!await guard.AdmitAsync(request))
            return;
        string[] submitted = [.. header.Submitted];
        var held = locks.Covering(guard.KeyOf(request.Path)).FirstOrDefault(one => submitted.Contains(one.Token));
        if (held is not null && locks.Refresh(held.Token, timeout) is { } refreshed)
            await WriteAsync(request, refreshed, StatusCodes.Status200OK);
        else
            Refusal.Write(request.Http.Response, StatusCodes.Status412PreconditionFailed);
    }

    private async Task CreateAsync(DavRequest request, LockRequest asked, TimeSpan timeout)
    {
        var response = request.Http.Response;
        var depth = DepthHeader.Read(request.Http.Request.Headers, absent: Depth.Infinity);
        if (depth is null or Depth.One)
        {
            Refusal.Write(response, StatusCodes.Status400BadRequest);
            return;
        }

        IStoreCollection? parent = null;
        if (request.Item is null)
        {
            parent = await store.FindAsync(request.Path.Parent, request.Aborted) as IStoreCollection;
            if (parent is null || request.Path.HasTrailingSlash)
            {
                Refusal.Write(response, parent is null ? StatusCodes.Status409Conflict : StatusCodes.Status403Forbidden);
                return;
            }
        }

        // Check only whether the name may be created. A lock on the name itself is reported as a conflict below.
        PlannedChange[] changes = request.Item is null ? [new PlannedChange(request.Path.Parent, ChangeKind.Content)] : [];
        if (!await guard.AdmitAsync(request, changes))
            return;

        var href = request.Path.Href(request.Item is IStoreCollection);
        var terms = new LockTerms(guard.KeyOf(request.Path), href, asked.Scope, depth == Depth.Infinity, asked.Owner);
        var grant = locks.Grant(terms, timeout);
        if (grant.Conflict is { } conflict)
            await LockConflict.WriteAsync(response, terms, conflict, request.Aborted);
        else if (grant.Granted is not { } granted)
            Refusal.Write(response, StatusCodes.Status507InsufficientStorage);
        else if (parent is null)
            await AnswerAsync(request, granted, StatusCodes.Status200OK);
        else
            await CreateFileAsync(request, parent, granted);
    }

    /// <summary>Creates the empty file. Releases the lock if that fails.</summary>
    private async Task CreateFileAsync(DavRequest request, IStoreCollection parent, DavLock granted)
    {
        var isKept = false;
        try
        {
            var upload = new StoreUpload(Stream.Null, 0, MayReplace: false);
            var answer = await parent.PutItemAsync(request.Path.Name, upload, request.Aborted);
            isKept = answer is StoreAnswer.Created or StoreAnswer.AlreadyExists;
            if (!isKept)
                Refusal.Write(request.Http.Response, StoreStatus.For(answer));
            else
                await AnswerAsync(request, granted, answer == StoreAnswer.Created ? StatusCodes.Status201Created : StatusCodes.Status200OK);
        }
        finally
        {
            if (!isKept)
                locks.Release(granted.Terms.Root, granted.Token);
        }
    }

    private Task AnswerAsync(DavRequest request, DavLock granted, int status)
    {
        request.Http.Response.Headers["Lock-Token"] = $"<{granted.Token}>";
        return WriteAsync(request, granted, status);
    }

    private Task WriteAsync(DavRequest request, DavLock granted, int status) =>
        DavDocument.WriteAsync(
            request.Http.Response,
            status,
            xml =>
            {
                xml.Markup("<D:prop xmlns:D=\"DAV:\"><D:lockdiscovery>"u8);
                xml.Markup(LockMarkup.Discovery([granted], locks));
                xml.Markup("</D:lockdiscovery></D:prop>"u8);
            },
            request.Aborted);
}

/// <summary>The response to a lock request that conflicts with another lock.</summary>
internal static class LockConflict
{
    /// <summary>
    /// Responds with 423 if the other lock covers the resource. If the other lock is below, the deep lock fails there and therefore here too, so a 207 names
    /// both resources (RFC 4918, section 9.10.6).
    /// </summary>
    public static Task WriteAsync(HttpResponse response, LockTerms terms, DavLock other, CancellationToken cancellationToken)
    {
        if (!other.Terms.Root.IsBelow(terms.Root))
            return DavError.WriteAsync(response, StatusCodes.Status423Locked, "no-conflicting-lock", [other.Terms.Href], cancellationToken);
        return DavDocument.WriteAsync(
            response,
            StatusCodes.Status207MultiStatus,
            xml =>
            {
                xml.Markup("<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>"u8);
                xml.Text(other.Terms.Href);
                xml.Markup($"</D:href><D:status>{StatusLine.For(StatusCodes.Status423Locked)}</D:status>");
                xml.Markup("<D:error><D:no-conflicting-lock/></D:error></D:response><D:response><D:href>"u8);
                xml.Text(terms.Href);
                xml.Markup($"</D:href><D:status>{StatusLine.For(StatusCodes.Status424FailedDependency)}</D:status></D:response></D:multistatus>");
            },
            cancellationToken);
    }
}
