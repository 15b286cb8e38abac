namespace Sluice.Server.WebDav;

/// <summary>The refusal of a lock because of another one.</summary>
internal static class LockConflict
{
    /// <summary>
    /// Answers 423 where the other lock covers the resource itself. Where it lies below, a deep lock failed on that resource and
    /// therefore here: 207 names both (RFC 4918, section 9.10.6).
    /// </summary>
    public static Task WriteAsync(HttpResponse response, LockWish wish, DavLock other, CancellationToken ct)
    {
        if (!other.Wish.Root.IsBelow(wish.Root))
            return DavError.WriteAsync(response, StatusCodes.Status423Locked, "no-conflicting-lock", [other.Wish.Href], ct);
        return DavDocument.WriteAsync(
            response,
            StatusCodes.Status207MultiStatus,
            xml =>
            {
                xml.Markup("<D:multistatus xmlns:D=\"DAV:\"><D:response><D:href>"u8);
                xml.Text(other.Wish.Href);
                xml.Markup($"</D:href><D:status>{StatusLine.For(StatusCodes.Status423Locked)}</D:status>");
                xml.Markup("<D:error><D:no-conflicting-lock/></D:error></D:response><D:response><D:href>"u8);
                xml.Text(wish.Href);
                xml.Markup($"</D:href><D:status>{StatusLine.For(StatusCodes.Status424FailedDependency)}</D:status></D:response></D:multistatus>");
            },
            ct);
    }
}
