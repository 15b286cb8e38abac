using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

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

        // Who comes first gets the plain name, so the order depends on the files alone: the longest first.
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
