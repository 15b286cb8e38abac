using System.Collections.Frozen;
using System.Globalization;
using Microsoft.Net.Http.Headers;

namespace Sluice.Server.Pages;

/// <summary>The folder of the built web UI, which may be missing.</summary>
internal sealed record PageFolder(string Root)
{
    /// <summary>The folder next to the executable.</summary>
    public static PageFolder OfThisProgram { get; } = new(Path.Combine(AppContext.BaseDirectory, "wwwroot"));
}

/// <summary>The files of the web UI other than its page: <c>assets</c>, and the few files that browsers request on their own.</summary>
/// <remarks>Lists the folder once, on the first request. Thread-safe.</remarks>
internal sealed class PageFiles(PageFolder folder)
{
    /// <summary>Files that browsers request at the root (DAV-3).</summary>
    public static readonly string[] RootNames = ["favicon.ico", "robots.txt", "manifest.webmanifest", "apple-touch-icon.png"];

    private const string Assets = "assets";
    private const string BrotliEnding = ".br";
    private const string GzipEnding = ".gz";

    // The build puts a content hash into each file name, so the content behind a name never changes.
    private const string CacheForever = "public, max-age=31536000, immutable";
    private const string CacheOneDay = "public, max-age=86400";

    private static readonly FrozenDictionary<string, string> Types = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase)
    {
        [".js"] = "text/javascript; charset=utf-8",
        [".css"] = "text/css; charset=utf-8",
        [".json"] = "application/json",
        [".webmanifest"] = "application/manifest+json",
        [".txt"] = "text/plain; charset=utf-8",
        [".svg"] = "image/svg+xml",
        [".png"] = "image/png",
        [".webp"] = "image/webp",
        [".ico"] = "image/x-icon",
        [".woff2"] = "font/woff2",
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    private readonly Lazy<FrozenDictionary<string, PageFile>> _files = new(() => Find(folder.Root));

    public async Task AnswerAsync(HttpContext http)
    {
        PageHeaders.Write(http.Response.Headers);
        if (!_files.Value.TryGetValue(http.Request.Path.Value ?? "", out var file))
        {
            http.Response.StatusCode = StatusCodes.Status404NotFound;
            http.Response.Headers.CacheControl = "no-store";
            return;
        }

        await file.AnswerAsync(http);
    }

    private static FrozenDictionary<string, PageFile> Find(string root)
    {
        var assets = Path.Combine(root, Assets);
        var names = RootNames.Where(name => File.Exists(Path.Combine(root, name)));
        if (Directory.Exists(assets))
            names = names.Concat(Directory.EnumerateFiles(assets, "*", SearchOption.AllDirectories).Select(path => Path.GetRelativePath(root, path)));
        return names
            .Where(name => !name.EndsWith(BrotliEnding, StringComparison.Ordinal) && !name.EndsWith(GzipEnding, StringComparison.Ordinal))
            .ToFrozenDictionary(
                name => "/" + name.Replace(Path.DirectorySeparatorChar, '/'),
                name => new PageFile(
                    new FileInfo(Path.Combine(root, name)),
                    Types.GetValueOrDefault(Path.GetExtension(name), "application/octet-stream"),
                    name.StartsWith(Assets, StringComparison.Ordinal) ? CacheForever : CacheOneDay),
                StringComparer.Ordinal);
    }

    /// <summary>A file with its compressed copies in the same folder.</summary>
    private sealed class PageFile(FileInfo plain, string contentType, string cacheControl)
    {
        private readonly FileInfo? _brotli = Copy(plain, BrotliEnding);
        private readonly FileInfo? _gzip = Copy(plain, GzipEnding);

        public async Task AnswerAsync(HttpContext http)
        {
            var (request, response) = (http.Request, http.Response);
            var (file, encoding) = _brotli is not null && PageHeaders.Accepts(request, "br") ? (_brotli, "br")
                : _gzip is not null && PageHeaders.Accepts(request, "gzip") ? (_gzip, "gzip")
                : (plain, null);
            var tag = string.Create(CultureInfo.InvariantCulture, $"\"{file.LastWriteTimeUtc.Ticks:x}-{file.Length:x}\"");
            response.Headers.CacheControl = cacheControl;
            response.Headers.Vary = HeaderNames.AcceptEncoding;
            if (PageHeaders.IsKnown(http, tag))
                return;
            response.ContentType = contentType;
            response.ContentLength = file.Length;
            if (encoding is not null)
                response.Headers.ContentEncoding = encoding;
            if (!HttpMethods.IsHead(request.Method))
                await response.SendFileAsync(file.FullName, http.RequestAborted);
        }

        private static FileInfo? Copy(FileInfo plain, string ending) => new FileInfo(plain.FullName + ending) is { Exists: true } copy ? copy : null;
    }
}
