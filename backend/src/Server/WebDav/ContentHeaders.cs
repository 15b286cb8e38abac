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
        WriteValidators(headers, file);
        headers.ContentLength = range.Length;
        headers.ContentType = file.ContentType;
        headers.XContentTypeOptions = "nosniff";
        if (range.ContentRange is { } contentRange)
            headers.ContentRange = contentRange;
        if (!ContentTypes.IsActive(file.ContentType))
            return;

        var disposition = new ContentDispositionHeaderValue("attachment");
        disposition.SetHttpFileName(file.Name);
        headers.ContentDisposition = disposition.ToString();
        headers.ContentSecurityPolicy = "sandbox";
    }
}
