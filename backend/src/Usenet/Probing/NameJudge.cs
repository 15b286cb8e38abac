using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Usenet.Probing;

/// <summary>Classifies file names: obfuscated names, documents in archive formats, disc structures. Pure.</summary>
public static class NameJudge
{
    // Documents, comics and programs in archive formats. They stay whole, because their applications open the archive.
    private static readonly string[] PlainExtensions = ["epub", "cbz", "cbr", "cb7", "cbt", "kepub", "docx", "jar", "apk"];

    private static readonly string[] DiscFolders = ["BDMV", "VIDEO_TS", "CERTIFICATE"];

    /// <summary>Returns the extension without its dot: 2 to 5 letters and digits with at least one letter, or three digits; empty if none.</summary>
    public static string ExtensionOf(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        var dot = name.LastIndexOf('.');
        var extension = dot > 0 ? name[(dot + 1)..] : "";
        return extension.Length is >= 2 and <= 5 && extension.All(char.IsAsciiLetterOrDigit)
            && (extension.Length == 3 || extension.Any(char.IsAsciiLetter))
            ? extension
            : "";
    }

    public static string StemOf(string name) => ExtensionOf(name) is { Length: > 0 } extension ? name[..^(extension.Length + 1)] : name;

    /// <summary>Whether a name is a long hex number, a random mix of letters and digits, or has no extension (IMP-41).</summary>
    public static bool IsObfuscated(string name) => ExtensionOf(name).Length == 0 || IsObfuscatedStem(StemOf(name));

    internal static bool IsObfuscatedStem(string stem) => RandomName.Matches(stem);

    /// <summary>Whether a file with this name is published unchanged although its format is an archive (IMP-58).</summary>
    public static bool IsPlain(string? name) => name is not null && PlainExtensions.Contains(ExtensionOf(name).ToLowerInvariant());

    /// <summary>
    /// Whether a file belongs to a disc structure and must keep its name, because players look for this name: everything below BDMV, VIDEO_TS and CERTIFICATE,
    /// and <c>ifo</c> and <c>bup</c> anywhere (IMP-42). Separator is <c>/</c>.
    /// </summary>
    public static bool IsDiscPart(string path)
    {
        ArgumentNullException.ThrowIfNull(path);
        var parts = path.Split('/');
        return parts[..^1].Intersect(DiscFolders, StringComparer.OrdinalIgnoreCase).Any()
            || ExtensionOf(parts[^1]).ToLowerInvariant() is "ifo" or "bup";
    }

    /// <summary>Returns the category by content, or by name if the content is unknown or the name takes precedence.</summary>
    public static MediaCategory CategoryOf(string name, MediaKind kind) =>
        IsPlain(name) ? MediaCategory.Other
        : MediaSignature.CategoryOf(kind == MediaKind.Unknown ? MediaSignature.KindOf(ExtensionOf(name)) : kind);
}
