using Sluice.Server.WebDav.Locks;
using Sluice.Server.WebDav.Properties;
using Sluice.Server.WebDav.Xml;

namespace Sluice.Server.WebDav.Handlers;

/// <summary>PROPPATCH: applies all steps or none (RFC 4918, section 9.2), with a status for each property (DAV-47).</summary>
internal sealed class PropPatchHandler(LockGuard guard) : IRequestHandler
{
    public IReadOnlyList<string> Verbs { get; } = [WebDav.Verbs.PropPatch];

    public async Task HandleAsync(DavRequest request)
    {
        var http = request.Http.Request;
        var body = await DavXmlReader.ReadAsync(http.BodyReader, http.ContentLength, request.Aborted);
        var changes = PropPatchRequest.From(body);
        var isServed = request.Class[WebDav.Verbs.PropPatch] == VerbAnswer.Served;
        if (isServed && !await guard.AdmitAsync(request, new PlannedChange(request.Path, ChangeKind.Content)))
            return;

        var properties = request.ExistingItem.Properties;
        DavName[] names = [.. changes.Select(change => change.Name).Distinct()];
        DavName[] refused = [.. names.Where(name => !isServed || properties.IsProtected(name))];
        if (refused.Length > 0)
        {
            await WriteAsync(request, refused, [.. names.Except(refused)], StatusCodes.Status424FailedDependency);
            return;
        }

        var answer = await properties.ChangeAsync(changes, request.Aborted);
        var status = answer switch
        {
            StoreAnswer.Done => StatusCodes.Status200OK,

            // For a property, RFC 4918, section 9.2.1, lists 507 but not 413, so respond with 507 if the value is too large.
            StoreAnswer.TooLarge => StatusCodes.Status507InsufficientStorage,
            _ => StoreStatus.For(answer),
        };
        await WriteAsync(request, [], names, status);
    }

    private static Task WriteAsync(DavRequest request, DavName[] refused, DavName[] others, int status) =>
        DavDocument.WriteAsync(
            request.Http.Response,
            StatusCodes.Status207MultiStatus,
            xml =>
            {
                xml.Markup("<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>"u8);
                xml.Text(request.Path.Href(request.ExistingItem is IStoreCollection));
                xml.Markup("</D:href>"u8);
                if (refused.Length > 0)
                    WritePropStat(xml, refused, StatusCodes.Status403Forbidden, "<D:error><D:cannot-modify-protected-property/></D:error>");
                if (others.Length > 0)
                    WritePropStat(xml, others, status, "");
                xml.Markup("</D:response></D:multistatus>"u8);
            },
            request.Aborted);

    private static void WritePropStat(DavXmlWriter xml, DavName[] names, int status, string error)
    {
        xml.Markup("<D:propstat><D:prop>"u8);
        foreach (var name in names)
            xml.Empty(name);
        xml.Markup($"</D:prop><D:status>{StatusLine.For(status)}</D:status>{error}</D:propstat>");
    }
}
