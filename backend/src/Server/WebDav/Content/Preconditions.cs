using Microsoft.Net.Http.Headers;

namespace Sluice.Server.WebDav.Content;

internal enum PreconditionOutcome
{
    Proceed,

    /// <summary>304, because the client's copy is current.</summary>
    NotModified,

    /// <summary>412: a condition failed.</summary>
    Failed,
}

/// <summary>
/// The conditional headers of one request (RFC 9110, section 13; DAV-63, DAV-64). An invalid date is ignored, as the RFC requires. Dates are compared in whole
/// seconds, because HTTP dates have no fractions.
/// </summary>
internal readonly record struct Preconditions
{
    private EntityTagCondition? IfMatch { get; init; }

    private EntityTagCondition? IfNoneMatch { get; init; }

    private DateTimeOffset? IfUnmodifiedSince { get; init; }

    private DateTimeOffset? IfModifiedSince { get; init; }

    private string? IfRange { get; init; }

    public static Preconditions Parse(IHeaderDictionary headers) => new()
    {
        IfMatch = EntityTagCondition.Parse(headers.IfMatch),
        IfNoneMatch = EntityTagCondition.Parse(headers.IfNoneMatch),
        IfUnmodifiedSince = Date(headers.IfUnmodifiedSince),
        IfModifiedSince = Date(headers.IfModifiedSince),
        IfRange = headers.IfRange.Count == 0 ? null : headers.IfRange.ToString(),
    };

    public static bool AllowChange(DavRequest request)
    {
        var conditions = Parse(request.Http.Request.Headers);
        var tag = (request.Item as IStoreFile)?.ETag;
        return conditions.Evaluate(isRead: false, tag, request.Item?.LastModified) == PreconditionOutcome.Proceed;
    }

    /// <summary>Evaluates the conditions in the order of RFC 9110, section 13.2.2.</summary>
    /// <param name="isRead">Whether the method is GET or HEAD.</param>
    /// <param name="tag">The current entity tag; null if there is no item.</param>
    /// <param name="lastModified">The current date; null if there is no item.</param>
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

    /// <summary>Whether the Range header applies: If-Range is absent, or its strong tag or exact date matches the current content.</summary>
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
