using System.Globalization;
using System.Net;
using System.Xml;
using System.Xml.Linq;

namespace Sluice.Tools.FullNzbTester.Server;

/// <summary>Lists a folder of the WebDAV tree by PROPFIND (RFC 4918 section 9.1).</summary>
internal static class DavListing
{
    private static readonly XNamespace Dav = "DAV:";

    /// <summary>Returns the files of a folder, without its subfolders.</summary>
    /// <exception cref="IOException">The server does not list the folder.</exception>
    public static async Task<IReadOnlyList<DavFile>> ListAsync(HttpClient http, Uri folder, CancellationToken cancellationToken)
    {
        using var request = new HttpRequestMessage(new HttpMethod("PROPFIND"), folder);
        request.Headers.Add("Depth", "1");
        try
        {
            using var answer = await http.SendAsync(request, cancellationToken);
            if (answer.StatusCode != HttpStatusCode.MultiStatus)
                throw new IOException($"The server answers PROPFIND of {folder.AbsolutePath} with {(int)answer.StatusCode}.");
            return Parse(await answer.Content.ReadAsStringAsync(cancellationToken), folder);
        }
        catch (Exception error) when (error is HttpRequestException or XmlException or FormatException)
        {
            throw new IOException($"The server does not list {folder.AbsolutePath}: {error.Message}", error);
        }
    }

    /// <param name="folder">Base URI for relative hrefs.</param>
    /// <exception cref="XmlException">The body is not XML.</exception>
    /// <exception cref="FormatException">A length is not a number.</exception>
    internal static IReadOnlyList<DavFile> Parse(string multistatus, Uri folder)
    {
        var files = new List<DavFile>();
        foreach (var response in XDocument.Parse(multistatus).Descendants(Dav + "response"))
        {
            if (response.Descendants(Dav + "collection").Any() || response.Descendants(Dav + "getcontentlength").FirstOrDefault() is not { } length)
                continue;
            var url = new Uri(folder, response.Element(Dav + "href")?.Value.Trim() ?? "");
            files.Add(new DavFile(Uri.UnescapeDataString(url.Segments[^1]), url, long.Parse(length.Value, NumberStyles.None, CultureInfo.InvariantCulture)));
        }

        return files;
    }
}

internal readonly record struct DavFile(string Name, Uri Url, long Length);
