using System.Globalization;
using System.Text.RegularExpressions;
using System.Xml.Linq;

namespace Sluice.Server.Tests.WebDav.Tree;

/// <summary>One entry of a folder as rclone parses it.</summary>
internal sealed record RcloneEntry(string Name, bool IsFolder, long Size, DateTimeOffset Modified);

/// <summary>
/// Reads listings by the rules of rclone's WebDAV backend, including 1.74. The status of its first <c>propstat</c> decides whether an
/// entry exists, the last value of a property counts, and an entry with an address on another host or outside the folder is ignored.
/// </summary>
internal static partial class RcloneListing
{
    /// <summary>The request body of 1.74 with vendor <c>other</c>; older versions send none.</summary>
    public const string StandardProperties =
        "<?xml version=\"1.0\"?>\n<d:propfind xmlns:d=\"DAV:\">\n <d:prop>\n  <d:displayname/>\n  <d:getlastmodified/>\n  <d:getcontentlength/>\n"
        + "  <d:resourcetype/>\n </d:prop>\n</d:propfind>\n";

    private static readonly XNamespace Dav = "DAV:";

    /// <summary>Returns the entries of a folder.</summary>
    /// <param name="folder">Address of the folder, with a slash at its end.</param>
    /// <param name="multiStatus">The response to PROPFIND with depth 1.</param>
    public static IReadOnlyList<RcloneEntry> Read(Uri folder, string multiStatus)
    {
        var entries = new List<RcloneEntry>();
        foreach (var response in Responses(multiStatus))
        {
            var isFolder = IsFolder(response);
            var address = new Uri(folder, response.Element(Dav + "href")!.Value);
            // Compares strings, because Uri would decode them.
            var path = address.AbsolutePath + (isFolder && !address.AbsolutePath.EndsWith('/') ? "/" : "");
            if (address.Authority != folder.Authority || !path.StartsWith(folder.AbsolutePath, StringComparison.Ordinal))
                continue;

            var name = Uri.UnescapeDataString(path[folder.AbsolutePath.Length..]).TrimEnd('/');
            if (name.Length > 0 && IsFound(response))
                entries.Add(Entry(name, isFolder, response));
        }

        return entries;
    }

    /// <summary>Returns the file that PROPFIND was asked for; null if rclone reports that there is no such file.</summary>
    public static RcloneEntry? ReadFile(string name, string multiStatus)
    {
        var response = Responses(multiStatus).FirstOrDefault();
        return response is null || !IsFound(response) || IsFolder(response) ? null : Entry(name, false, response);
    }

    private static IEnumerable<XElement> Responses(string multiStatus) => XDocument.Parse(multiStatus).Root!.Elements(Dav + "response");

    private static RcloneEntry Entry(string name, bool isFolder, XElement response)
    {
        var size = Last(response, "getcontentlength") is { Length: > 0 } text ? long.Parse(text, NumberStyles.None, CultureInfo.InvariantCulture) : 0;
        var modified = Last(response, "getlastmodified") is { Length: > 0 } date
            ? DateTimeOffset.ParseExact(date, "r", CultureInfo.InvariantCulture)
            : DateTimeOffset.UnixEpoch;
        return new RcloneEntry(name, isFolder, size, modified);
    }

    private static bool IsFound(XElement response) =>
        response.Elements(Dav + "propstat").Elements(Dav + "status").FirstOrDefault() is not { } status
        || SuccessStatus().IsMatch(status.Value);

    private static bool IsFolder(XElement response) =>
        response.Elements(Dav + "propstat").Elements(Dav + "prop").Elements(Dav + "resourcetype").Elements(Dav + "collection").Any()
        || Last(response, "iscollection")?.ToUpperInvariant() is "1" or "TRUE";

    private static string? Last(XElement response, string property) =>
        response.Elements(Dav + "propstat").Elements(Dav + "prop").Elements(Dav + property).LastOrDefault()?.Value;

    [GeneratedRegex(@"^HTTP/[0-9.]+\s+2\d\d\b")]
    private static partial Regex SuccessStatus();
}
