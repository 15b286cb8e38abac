using System.Globalization;
using Microsoft.Net.Http.Headers;

namespace Sluice.Server.WebDav.Content;

/// <summary>Headers of responses that send a file or confirm that the client's copy is current (DAV-60, DAV-61).</summary>
internal static class ContentHeaders
{
    /// <summary>Writes the validators and caching headers of a 200, 206, 304 or HEAD response.</summary>
    public static void WriteValidators(IHeaderDictionary headers, IStoreFile file)
    {
        headers.ETag = file.ETag.ToString();
        headers.LastModified = file.LastModified.ToUniversalTime().ToString("R", CultureInfo.InvariantCulture);
        headers.CacheControl = file.CacheControl;
        headers.AcceptRanges = "bytes";
    }

    /// <summary>Writes the headers of a 200, 206 or HEAD response.</summary>
    public static void WriteContent(IHeaderDictionary headers, IStoreFile file, ByteRange range)
    {
        WriteContent(headers, file, file.ContentType, range.Length);
        if (range.ContentRange is { } contentRange)
            headers.ContentRange = contentRange;
    }

    /// <summary>Writes the headers of a 206 with several parts.</summary>
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
