using Microsoft.Net.Http.Headers;

namespace Sluice.Server.WebDav;

/// <summary>Outcome of the conditions of a request.</summary>
internal enum PreconditionOutcome
{
    /// <summary>The request is served.</summary>
    Proceed,

    /// <summary>304: the client has the content already.</summary>
    NotModified,

    /// <summary>412.</summary>
    Failed,
}

/// <summary>
/// The conditional headers of one request, as a value (RFC 9110, section 13; DAV-63, DAV-64). A date that cannot be read counts
/// as absent, as the RFC demands. Dates have whole seconds, like the wire.
/// </summary>
internal readonly record struct Preconditions
{
    private EntityTagCondition? IfMatch { get; init; }

    private EntityTagCondition? IfNoneMatch { get; init; }

    private DateTimeOffset? IfUnmodifiedSince { get; init; }

    private DateTimeOffset? IfModifiedSince { get; init; }

    private string? IfRange { get; init; }

    /// <summary>Reads the conditions of a request.</summary>
    public static Preconditions Parse(IHeaderDictionary headers) => new()
    {
        IfMatch = EntityTagCondition.Parse(headers.IfMatch),
        IfNoneMatch = EntityTagCondition.Parse(headers.IfNoneMatch),
        IfUnmodifiedSince = Date(headers.IfUnmodifiedSince),
        IfModifiedSince = Date(headers.IfModifiedSince),
        IfRange = headers.IfRange.Count == 0 ? null : headers.IfRange.ToString(),
    };

    /// <summary>Whether a request may change the item at its path.</summary>
    public static bool AllowChange(DavRequest request)
    {
        var conditions = Parse(request.Http.Request.Headers);
        var tag = (request.Item as IStoreFile)?.ETag;
        return conditions.Evaluate(isRead: false, tag, request.Item?.LastModified) == PreconditionOutcome.Proceed;
    }

    /// <summary>Decides in the order of section 13.2.2.</summary>
    /// <param name="isRead">Whether the verb is GET or HEAD.</param>
    /// <param name="tag">The current validator; null when the path holds nothing.</param>
    /// <param name="lastModified">The current date; null when the path holds nothing.</param>
    public PreconditionOutcome Evaluate(bool isRead, EntityTag? tag, DateTimeOffset? lastModified)
    {
        if (IfMatch is not null)
        {
            if (!IfMatch.MatchesStrongly(tag))
                return PreconditionOutcome.Failed;
        }
        else if (IfUnmodifiedSince is { } until && lastModified is { } modified && Seconds(modified) > Seconds(until))
        {
            return PreconditionOutcome.Failed;
        }

        if (IfNoneMatch is not null)
        {
            if (IfNoneMatch.MatchesWeakly(tag))
                return isRead ? PreconditionOutcome.NotModified : PreconditionOutcome.Failed;
        }
        else if (isRead && IfModifiedSince is { } since && lastModified is { } changed && Seconds(changed) <= Seconds(since))
        {
            return PreconditionOutcome.NotModified;
        }

        return PreconditionOutcome.Proceed;
    }

    /// <summary>
    /// Whether a Range header counts: no If-Range, or one that names exactly this content. A tag is compared strongly, a date
    /// has to equal Last-Modified.
    /// </summary>
    public bool AllowsRange(EntityTag tag, DateTimeOffset lastModified)
    {
        if (IfRange is null)
            return true;
        var text = IfRange.AsSpan().Trim();
        if (EntityTag.TryRead(ref text, out var asked))
            return text.IsEmpty && asked.StrongEquals(tag);
        return Date(IfRange) is { } date && Seconds(date) == Seconds(lastModified);
    }

    private static DateTimeOffset? Date(string? header) =>
        HeaderUtilities.TryParseDate(header, out var date) ? date : null;

    private static long Seconds(DateTimeOffset date) => date.ToUnixTimeSeconds();
}
