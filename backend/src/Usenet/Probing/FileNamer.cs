using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A file that needs a name, as far as the probe knows it.</summary>
/// <param name="Subject">File name in the subject, or null.</param>
/// <param name="Yenc">Name in the yEnc header, or null.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Length">Its length in bytes.</param>
public readonly record struct NameRequest(string? Subject, string? Yenc, MediaKind Kind, long Length);

/// <summary>The name that a file gets.</summary>
/// <param name="Name">Clean and unique within the release.</param>
/// <param name="Original">The best name that was posted, as it was posted, for display; equal to <paramref name="Name"/> when nothing was changed.</param>
/// <param name="Source">Where it comes from.</param>
public readonly record struct FileName(string Name, string Original, NameSource Source);

/// <summary>Where the name of a file comes from, best first.</summary>
public enum NameSource
{
    /// <summary>The file name in the subject of its articles.</summary>
    Subject,

    /// <summary>The name in the yEnc header.</summary>
    Yenc,

    /// <summary>The name of the release, with an extension by type.</summary>
    Release,
}

/// <summary>Gives every file of a release its name. Pure: the same files give the same names in whatever order they come.</summary>
public static class FileNamer
{
    // A file that holds this share of the payload, in percent, is what the release is about.
    private const int MainShare = 70;

    /// <summary>Names the files of a release.</summary>
    /// <param name="release">Name of the release.</param>
    /// <param name="files">Everything that may be published; volumes of archives and PAR2 files keep the names they have.</param>
    /// <param name="windowsSafe">Whether names are cleaned for Windows as well.</param>
    /// <returns>One name per file, in the same order.</returns>
    public static IReadOnlyList<FileName> Name(string release, IReadOnlyList<NameRequest> files, bool windowsSafe)
    {
        ArgumentNullException.ThrowIfNull(release);
        ArgumentNullException.ThrowIfNull(files);

        var main = MainFile(files);
        var chosen = new Choice[files.Count];
        for (var i = 0; i < files.Count; i++)
            chosen[i] = Choose(release, files[i], i == main);

        // Of equal names the first file gets the plain one, so the order follows from the files alone: the longest first.
        var order = Enumerable.Range(0, files.Count)
            .OrderBy(i => i == main ? 0 : 1)
            .ThenByDescending(i => files[i].Length)
            .ThenBy(i => chosen[i].Name, StringComparer.Ordinal)
            .ThenBy(i => chosen[i].Original, StringComparer.Ordinal)
            .ThenBy(i => files[i].Subject, StringComparer.Ordinal)
            .ThenBy(i => files[i].Yenc, StringComparer.Ordinal)
            .ThenBy(i => files[i].Kind);

        var names = new FileName[files.Count];
        var taken = new NameSet(windowsSafe);
        foreach (var i in order)
            names[i] = new FileName(taken.Add(chosen[i].Name), chosen[i].Original, chosen[i].Source);
        return names;
    }

    private static int MainFile(IReadOnlyList<NameRequest> files)
    {
        var total = 0m;
        var main = -1;
        for (var i = 0; i < files.Count; i++)
        {
            var category = MediaSignature.CategoryOf(files[i].Kind);
            if (category == MediaCategory.Par2)
                continue;
            total += files[i].Length;
            var isMedia = category is MediaCategory.Video or MediaCategory.Audio || files[i].Kind == MediaKind.Unknown;
            if (isMedia && (main < 0 || files[i].Length > files[main].Length))
                main = i;
        }

        return main >= 0 && files[main].Length > 0 && files[main].Length * 100m >= total * MainShare ? main : -1;
    }

    private static Choice Choose(string release, NameRequest file, bool isMain)
    {
        var subject = LastElement(file.Subject);
        var yenc = LastElement(file.Yenc);
        var original = subject ?? yenc ?? release;
        if (subject is not null && !NameJudge.IsObfuscated(subject))
            return new Choice(Corrected(subject, file.Kind), original, NameSource.Subject);
        if (yenc is not null && !NameJudge.IsObfuscated(yenc))
            return new Choice(Corrected(yenc, file.Kind), original, NameSource.Yenc);

        // The order of volumes and the work of PAR2 hang on the names that were posted.
        var keepsName = MediaSignature.CategoryOf(file.Kind) is MediaCategory.Archive or MediaCategory.Par2;
        var extension = MediaSignature.ExtensionsOf(file.Kind) is [var usual, ..] ? usual : NameJudge.ExtensionOf(original);
        if (!keepsName && (file.Kind != MediaKind.Unknown || isMain) && extension.Length > 0)
            return new Choice(Corrected($"{release}.{extension}", file.Kind), original, NameSource.Release);
        if (subject is not null || yenc is not null)
            return new Choice(Corrected(original, file.Kind), original, subject is not null ? NameSource.Subject : NameSource.Yenc);
        return new Choice(release, original, NameSource.Release);
    }

    // An extension that belongs to another kind is replaced, one that belongs to none is part of the title.
    private static string Corrected(string name, MediaKind kind)
    {
        var right = MediaSignature.ExtensionsOf(kind);
        var extension = NameJudge.ExtensionOf(name).ToLowerInvariant();
        if (right.Count == 0 || right.Contains(extension))
            return name;

        var isMedia = MediaSignature.CategoryOf(kind) is MediaCategory.Video or MediaCategory.Audio;
        if (!isMedia)
            return extension.Length == 0 ? $"{name}.{right[0]}" : name;
        return IsKnown(extension) ? $"{name[..^(extension.Length + 1)]}.{right[0]}" : $"{name}.{right[0]}";
    }

    private static bool IsKnown(string extension) =>
        Array.Exists(Enum.GetValues<MediaKind>(), kind => MediaSignature.ExtensionsOf(kind).Contains(extension));

    // Posters of old wrote the path of their own disk.
    private static string? LastElement(string? name)
    {
        var element = name?[(name.LastIndexOfAny(['/', '\\']) + 1)..].Trim();
        return string.IsNullOrEmpty(element) ? null : element;
    }

    private readonly record struct Choice(string Name, string Original, NameSource Source);
}

/// <summary>The names in one folder: each is cleaned as it comes, and equal ones get <c> (2)</c>, <c> (3)</c> and so on.</summary>
/// <remarks>Not thread-safe. Names that differ in case only are equal where Windows has to tell them apart.</remarks>
public sealed class NameSet(bool windowsSafe)
{
    private readonly HashSet<string> _taken = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    // The number to try next per name, so that thousands of equal names do not count from 2 each.
    private readonly Dictionary<string, int> _next = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    /// <summary>Takes a name.</summary>
    /// <param name="name">Anything; it is cleaned by <see cref="NameCleaner"/>.</param>
    /// <returns>The name that it gets: clean and not taken before.</returns>
    public string Add(string name)
    {
        var plain = NameCleaner.Clean(name, windowsSafe);
        if (_taken.Add(plain))
            return plain;

        for (var number = _next.GetValueOrDefault(plain, 2); ; number++)
        {
            var numbered = NameCleaner.Clean(plain, windowsSafe, $" ({number})");
            if (!_taken.Add(numbered))
                continue;
            _next[plain] = number + 1;
            return numbered;
        }
    }
}

/// <summary>Tells names that say something from names that hide something. Pure.</summary>
internal static class NameJudge
{
    private const int HexDigits = 16;
    private const int MixedLetters = 12;
    private const int MixedChanges = 3;

    /// <summary>The extension without its dot, or empty: 2 to 5 letters and digits, not digits alone unless there are three.</summary>
    public static string ExtensionOf(string name)
    {
        var dot = name.LastIndexOf('.');
        var extension = dot > 0 ? name[(dot + 1)..] : "";
        return extension.Length is >= 2 and <= 5 && extension.All(char.IsAsciiLetterOrDigit)
            && (extension.Length == 3 || extension.Any(char.IsAsciiLetter))
            ? extension
            : "";
    }

    /// <summary>True for long hex numbers, random mixes of letters and digits, and names without extension.</summary>
    public static bool IsObfuscated(string name)
    {
        var extension = ExtensionOf(name);
        if (extension.Length == 0)
            return true;

        var stem = name[..^(extension.Length + 1)];
        return (stem.Length >= HexDigits && stem.All(char.IsAsciiHexDigit)) || IsRandomMix(stem);
    }

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
