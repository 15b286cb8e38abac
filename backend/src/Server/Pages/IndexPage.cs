using System.IO.Compression;
using System.Security.Cryptography;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.RegularExpressions;

namespace Sluice.Server.Pages;

/// <summary>The page of the web UI, shared by all its routes. If the build has no UI, the page explains how to build it.</summary>
/// <remarks>Read on the first request, because the URL base is not known until then. Thread-safe.</remarks>
internal sealed partial class IndexPage(PageFolder folder)
{
    private const string NotBuilt =
        """
        The web UI is not part of this build of Sluice.

        With Node.js and npm, tools/run.sh builds it and starts the server with it. By hand:

          cd frontend && npm ci && npm run build && cd .. && tools/publish.sh

        Players, mounts, Sonarr and Radarr do not need it.

        """;

    // Concurrent first requests may each create the content. This is harmless, because all results are equal.
    private volatile Content? _content;

    public async Task AnswerAsync(HttpContext http)
    {
        var (request, response) = (http.Request, http.Response);
        var content = _content ??= Read(folder.Root, request.PathBase);
        PageHeaders.Write(response.Headers);
        response.Headers.ContentSecurityPolicy = content.Policy;
        response.Headers.CacheControl = "no-cache";
        response.Headers.Vary = "Accept, Accept-Encoding";
        var isPacked = PageHeaders.Accepts(request, "gzip");
        if (PageHeaders.IsKnown(http, isPacked ? content.PackedTag : content.Tag))
            return;
        var body = isPacked ? content.Packed : content.Plain;
        response.ContentType = content.Type;
        response.ContentLength = body.Length;
        if (isPacked)
            response.Headers.ContentEncoding = "gzip";
        if (!HttpMethods.IsHead(request.Method))
            await response.Body.WriteAsync(body, http.RequestAborted);
    }

    private static Content Read(string root, PathString urlBase)
    {
        var path = Path.Combine(root, "index.html");
        return File.Exists(path)
            ? new Content("text/html; charset=utf-8", WriteBase(File.ReadAllText(path), urlBase))
            : new Content("text/plain; charset=utf-8", NotBuilt);
    }

    /// <summary>Sets the base element. All addresses are relative to it, so that a URL base requires no separate build.</summary>
    private static string WriteBase(string html, PathString urlBase)
    {
        var element = $"<base href=\"{HtmlEncoder.Default.Encode(urlBase.ToUriComponent())}/\" />";
        return Base().IsMatch(html) ? Base().Replace(html, element, 1) : Head().Replace(html, match => match.Value + element, 1);
    }

    [GeneratedRegex("""<base\b[^>]*>""", RegexOptions.IgnoreCase)]
    private static partial Regex Base();

    [GeneratedRegex("""<head\b[^>]*>""", RegexOptions.IgnoreCase)]
    private static partial Regex Head();

    [GeneratedRegex("""<script\b(?![^>]*\ssrc\s*=)[^>]*>(?<text>.*?)</script>""", RegexOptions.IgnoreCase | RegexOptions.Singleline)]
    private static partial Regex InlineScript();

    /// <summary>A response body and its content security policy.</summary>
    private sealed class Content
    {
        public Content(string type, string text)
        {
            Type = type;
            Plain = Encoding.UTF8.GetBytes(text);
            using var packed = new MemoryStream();
            using (var gzip = new GZipStream(packed, CompressionLevel.SmallestSize))
                gzip.Write(Plain);
            Packed = packed.ToArray();
            var tag = Convert.ToHexStringLower(SHA256.HashData(Plain).AsSpan(0, 8));
            (Tag, PackedTag) = ($"\"{tag}\"", $"\"{tag}-gz\"");
            // Inline scripts are allowed by hash (S17). Inline styles are allowed, because components position elements with them.
            var scripts = string.Concat(InlineScript().Matches(text)
                .Select(match => $" 'sha256-{Convert.ToBase64String(SHA256.HashData(Encoding.UTF8.GetBytes(match.Groups["text"].Value)))}'"));
            Policy = $"default-src 'self'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; "
                + "base-uri 'self'; form-action 'self'; frame-ancestors 'none'";
        }

        public string Type { get; }

        public byte[] Plain { get; }

        public byte[] Packed { get; }

        public string Tag { get; }

        public string PackedTag { get; }

        public string Policy { get; }
    }
}
