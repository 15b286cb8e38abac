using System.Collections.Frozen;

namespace Sluice.Server.WebDav;

internal static class ContentTypes
{
    public const string Unknown = "application/octet-stream";

    private static readonly FrozenDictionary<string, string> ByExtension = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase)
    {
        [".mkv"] = "video/x-matroska",
        [".mk3d"] = "video/x-matroska",
        [".webm"] = "video/webm",
        [".mp4"] = "video/mp4",
        [".m4v"] = "video/mp4",
        [".mov"] = "video/quicktime",
        [".avi"] = "video/x-msvideo",
        [".divx"] = "video/x-msvideo",
        [".wmv"] = "video/x-ms-wmv",
        [".asf"] = "video/x-ms-asf",
        [".flv"] = "video/x-flv",
        [".mpg"] = "video/mpeg",
        [".mpeg"] = "video/mpeg",
        [".m2v"] = "video/mpeg",
        [".vob"] = "video/mpeg",
        [".ts"] = "video/mp2t",
        [".m2ts"] = "video/mp2t",
        [".mts"] = "video/mp2t",
        [".ogv"] = "video/ogg",
        [".ogm"] = "video/ogg",
        [".3gp"] = "video/3gpp",
        [".iso"] = "application/x-iso9660-image",
        [".mka"] = "audio/x-matroska",
        [".mp3"] = "audio/mpeg",
        [".flac"] = "audio/flac",
        [".m4a"] = "audio/mp4",
        [".m4b"] = "audio/mp4",
        [".aac"] = "audio/aac",
        [".ac3"] = "audio/ac3",
        [".ogg"] = "audio/ogg",
        [".oga"] = "audio/ogg",
        [".opus"] = "audio/opus",
        [".wav"] = "audio/wav",
        [".wma"] = "audio/x-ms-wma",
        [".srt"] = "application/x-subrip",
        [".ass"] = "text/x-ssa",
        [".ssa"] = "text/x-ssa",
        [".vtt"] = "text/vtt",
        [".jpg"] = "image/jpeg",
        [".jpeg"] = "image/jpeg",
        [".png"] = "image/png",
        [".gif"] = "image/gif",
        [".webp"] = "image/webp",
        [".svg"] = "image/svg+xml",
        [".txt"] = "text/plain; charset=utf-8",
        [".nfo"] = "text/plain",
        [".sfv"] = "text/plain",
        [".htm"] = "text/html",
        [".html"] = "text/html",
        [".xhtml"] = "application/xhtml+xml",
        [".xml"] = "application/xml",
        [".pdf"] = "application/pdf",
        [".epub"] = "application/epub+zip",
        [".cbz"] = "application/vnd.comicbook+zip",
        [".cbr"] = "application/vnd.comicbook-rar",
        [".nzb"] = "application/x-nzb",
        [".gz"] = "application/gzip",
        [".bz2"] = "application/x-bzip2",
        [".zip"] = "application/zip",
        [".rar"] = "application/vnd.rar",
        [".7z"] = "application/x-7z-compressed",
    }.ToFrozenDictionary(StringComparer.OrdinalIgnoreCase);

    public static string ForName(string name) => ByExtension.GetValueOrDefault(Path.GetExtension(name), Unknown);

    /// <summary>Whether a browser would run scripts in the file under this server's origin: HTML, SVG, and any XML, because XML can embed both.</summary>
    public static bool IsActive(string contentType) =>
        contentType.StartsWith("text/html", StringComparison.OrdinalIgnoreCase)
        || contentType.Contains("xml", StringComparison.OrdinalIgnoreCase);
}
