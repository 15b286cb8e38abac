using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>Tells names that say something from names that hide something, and knows names that rules make exceptions of. Pure.</summary>
public static class NameJudge
{
    private const int HexDigits = 16;
    private const int MixedLetters = 12;
    private const int MixedChanges = 3;

    // Documents, comics and programs that are archives inside, and are read whole by what opens them.
    private static readonly string[] PlainExtensions = ["epub", "cbz", "cbr", "cb7", "cbt", "kepub", "docx", "jar", "apk"];

    private static readonly string[] DiscFolders = ["BDMV", "VIDEO_TS", "CERTIFICATE"];

    /// <summary>The extension without its dot, or empty: 2 to 5 letters and digits, not digits alone unless there are three.</summary>
    /// <param name="name">A name without folder.</param>
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

    /// <summary>The name without its extension and the dot before it.</summary>
    /// <param name="name">A name without folder.</param>
    public static string StemOf(string name) => ExtensionOf(name) is { Length: > 0 } extension ? name[..^(extension.Length + 1)] : name;

    /// <summary>True for long hex numbers, random mixes of letters and digits, and names without extension (IMP-41).</summary>
    /// <param name="name">A name without folder.</param>
    public static bool IsObfuscated(string name) => ExtensionOf(name).Length == 0 || IsObfuscatedStem(StemOf(name));

    /// <summary>True for long hex numbers and random mixes of letters and digits.</summary>
    /// <param name="stem">A name without its extension.</param>
    internal static bool IsObfuscatedStem(string stem) =>
        (stem.Length >= HexDigits && stem.All(char.IsAsciiHexDigit)) || IsRandomMix(stem);

    /// <summary>Whether a file of this name is published as it is, although it is an archive inside (IMP-58).</summary>
    /// <param name="name">A name with or without folder, or null.</param>
    public static bool IsPlain(string? name) => name is not null && PlainExtensions.Contains(ExtensionOf(name).ToLowerInvariant());

    /// <summary>
    /// Whether a file is a part of the structure of a disc, where players find it by name: everything below BDMV, VIDEO_TS and CERTIFICATE,
    /// and <c>ifo</c> and <c>bup</c> anywhere (IMP-42).
    /// </summary>
    /// <param name="path">A name or a path, separated by <c>/</c>.</param>
    public static bool IsDiscPart(string path)
    {
        ArgumentNullException.ThrowIfNull(path);
        var parts = path.Split('/');
        return parts[..^1].Intersect(DiscFolders, StringComparer.OrdinalIgnoreCase).Any()
            || ExtensionOf(parts[^1]).ToLowerInvariant() is "ifo" or "bup";
    }

    /// <summary>How a file is treated: by its content, by its name where that is unknown or the name decides.</summary>
    /// <param name="name">A name with or without folder.</param>
    /// <param name="kind">What it is by its first bytes.</param>
    public static MediaCategory CategoryOf(string name, MediaKind kind) =>
        IsPlain(name) ? MediaCategory.Other
        : MediaSignature.CategoryOf(kind == MediaKind.Unknown ? MediaSignature.KindOf(ExtensionOf(name)) : kind);

    private static bool IsRandomMix(string stem)
    {
        if (stem.Length < MixedLetters || !stem.All(char.IsAsciiLetterOrDigit))
            return false;

        var changes = 0;
        for (var i = 1; i < stem.Length; i++)
            changes += char.IsAsciiDigit(stem[i]) != char.IsAsciiDigit(stem[i - 1]) ? 1 : 0;
        return changes >= MixedChanges;
    }
}
