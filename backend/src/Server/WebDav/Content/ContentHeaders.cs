using System.Globalization;
using Microsoft.Net.Http.Headers;

namespace Sluice.Server.WebDav;

/// <summary>The headers of answers that carry a file, or say that the client has it (DAV-60, DAV-61).</summary>
internal static class ContentHeaders
{
    /// <summary>Validators and caching: on 200, 206, 304 and HEAD.</summary>
    public static void WriteValidators(IHeaderDictionary headers, IStoreFile file)
    {
        headers.ETag = file.ETag.ToString();
        headers.LastModified = file.LastModified.ToUniversalTime().ToString("R", CultureInfo.InvariantCulture);
        headers.CacheControl = file.CacheControl;
        headers.AcceptRanges = "bytes";
    }

    /// <summary>Everything that describes the body of 200, 206 and HEAD.</summary>
    public static void WriteContent(IHeaderDictionary headers, IStoreFile file, ByteRange range)
    {
        WriteContent(headers, file, file.ContentType, range.Length);
        if (range.ContentRange is { } contentRange)
            headers.ContentRange = contentRange;
    }

    /// <summary>Everything that describes the body of a 206 with several parts.</summary>
    public static void WriteContent(IHeaderDictionary headers, IStoreFile file, MultipartRanges ranges) =>
        WriteContent(headers, file, ranges.ContentType, ranges.Length);

    private static void WriteContent(IHeaderDictionary headers, IStoreFile file, string contentType, long length)
    {
        WriteValidators(headers, file);
        headers.ContentLength = length;
        headers.ContentType = contentType;
        headers.XContentTypeOptions = "nosniff";
        var isActive = ContentTypes.IsActive(file.ContentType);
        if (isActive)
            headers.ContentSecurityPolicy = "sandbox";
        if (!isActive && !file.IsAttachment && file.SuggestedName is null)
            return;

        var disposition = new ContentDispositionHeaderValue(isActive || file.IsAttachment ? "attachment" : "inline");
        disposition.SetHttpFileName(file.SuggestedName ?? file.Name);
        headers.ContentDisposition = disposition.ToString();
    }
}
