using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A chosen file name without its folder, not yet cleaned or unique. <c>Original</c> is the best posted name.</summary>
internal readonly record struct ChosenName(string Name, string Original, NameSource Source);

/// <summary>All names of one file, best source first, and the choice among them (IMP-40 to IMP-42).</summary>
internal sealed class KnownNames
{
    private readonly List<(string Name, NameSource Source)> _names = [];

    public KnownNames(NameRequest file)
    {
        Kind = file.Kind;
        Length = file.Length;
        var inner = file.Inner is null ? null : InnerPath.Split(file.Inner);
        var par2 = file.Par2 is null ? null : InnerPath.Split(file.Par2);
        IsRefused = file.Inner is not null && inner is null;
        Folder = [.. (inner ?? par2 ?? [""]).SkipLast(1)];
        Add(par2?[^1], NameSource.Par2);
        Add(inner?[^1], NameSource.Inner);
        Add(LastElement(file.Subject), NameSource.Subject);
        Add(LastElement(file.Yenc), NameSource.Yenc);
        IsPlain = _names.Exists(known => NameJudge.IsPlain(known.Name));
        IsDiscPart = _names.Count > 0 && NameJudge.IsDiscPart(string.Join('/', [.. Folder, _names[0].Name]));
        Original = _names.Count > 0 ? _names[0].Name : null;
        for (var i = 0; i < _names.Count; i++)
        {
            if (_names[i].Source != NameSource.Inner)
                _names[i] = (TitleOf(_names[i].Name, file), _names[i].Source);
        }
    }

    public MediaKind Kind { get; }

    public long Length { get; }

    /// <summary>The folder of the file, not cleaned.</summary>
    public IReadOnlyList<string> Folder { get; }

    public bool IsRefused { get; }

    /// <summary>Whether the file is published unchanged although its format is an archive (IMP-58).</summary>
    public bool IsPlain { get; }

    /// <summary>Whether the name must stay, because players look for this name.</summary>
    public bool IsDiscPart { get; }

    /// <summary>Whether the file belongs to a pair of subtitle stream and index, which looks like a video.</summary>
    public bool IsPaired { get; set; }

    /// <summary>Whether name and extension always stay. Such a file is never the main file.</summary>
    public bool IsFixed => IsDiscPart || IsPaired;

    /// <summary>Whether the file is video or audio according to its first bytes.</summary>
    public bool IsMedia => !IsPlain && MediaSignature.CategoryOf(Kind) is MediaCategory.Video or MediaCategory.Audio;

    /// <summary>The best posted name; null if none.</summary>
    public string? Original { get; }

    public IEnumerable<string> All => _names.Select(known => known.Name);

    /// <summary>Whether the file is an archive or PAR2, whose name must stay because volume order and PAR2 repair depend on it.</summary>
    public bool IsVolume => !IsPlain && MediaSignature.CategoryOf(Kind) is MediaCategory.Archive or MediaCategory.Par2;

    /// <summary>Returns folder and stem of each name with the extension.</summary>
    public IEnumerable<string> StemsWith(string extension) =>
        All.Where(name => NameJudge.ExtensionOf(name).Equals(extension, StringComparison.OrdinalIgnoreCase))
            .Select(name => string.Join('/', [.. Folder, NameJudge.StemOf(name)]));

    public ChosenName Choose(string release, bool isMain)
    {
        var original = Original ?? release;
        if (IsFixed)
            return new ChosenName(original, original, _names[0].Source);

        foreach (var (name, source) in _names)
        {
            if (!NameJudge.IsObfuscated(name))
                return new ChosenName(Corrected(name), original, source);
        }

        var extension = Extension();
        if (!IsVolume && (Kind != MediaKind.Unknown || isMain) && extension.Length > 0)
            return new ChosenName($"{release}.{extension}", original, NameSource.Release);
        return _names.Count > 0
            ? new ChosenName(Corrected(_names[0].Name), original, _names[0].Source)
            : new ChosenName(Corrected(release), original, NameSource.Release);
    }

    /// <summary>Returns the extension for a new name: the posted one if it fits the kind, otherwise the usual one; empty if unknown.</summary>
    private string Extension()
    {
        var right = IsPlain ? [] : MediaSignature.ExtensionsOf(Kind);
        var posted = All.Select(NameJudge.ExtensionOf).FirstOrDefault(extension => extension.Any(char.IsAsciiLetter)) ?? "";
        return right.Count == 0 || right.Contains(posted.ToLowerInvariant()) ? posted : right[0];
    }

    // An extension of another kind is replaced; an unknown extension is part of the title.
    private string Corrected(string name)
    {
        var right = IsPlain ? [] : MediaSignature.ExtensionsOf(Kind);
        var extension = NameJudge.ExtensionOf(name).ToLowerInvariant();
        if (right.Count == 0 || right.Contains(extension))
            return name;
        if (HasKnownExtension(name) && !IsVolume && Kind != MediaKind.Xml)
            return $"{NameJudge.StemOf(name)}.{right[0]}";
        return IsMedia || extension.Length == 0 ? $"{name}.{right[0]}" : name;
    }

    /// <summary>Returns the file name implied by the name of its archive or first piece.</summary>
    private string TitleOf(string name, NameRequest file)
    {
        if (IsVolume || IsDiscPart)
            return name;
        if (file.Inner is not null)
        {
            var stem = VolumeName.Parse(name)?.Stem ?? (IsArchive(name) ? NameJudge.StemOf(name) : null);
            return stem is null ? name : WithExtension(stem);
        }

        return VolumeName.Parse(name) is { Naming: VolumeNaming.Numbers } piece && (file.IsJoined || HasKnownExtension(piece.Stem))
            ? WithExtension(piece.Stem)
            : name;
    }

    private string WithExtension(string stem)
    {
        var isThere = HasKnownExtension(stem) || (Kind == MediaKind.Unknown && NameJudge.ExtensionOf(stem).Length > 0);
        return !isThere && Extension() is { Length: > 0 } extension ? $"{stem}.{extension}" : stem;
    }

    private static bool HasKnownExtension(string name) => MediaSignature.KindOf(NameJudge.ExtensionOf(name)) != MediaKind.Unknown;

    private static bool IsArchive(string name) =>
        MediaSignature.CategoryOf(MediaSignature.KindOf(NameJudge.ExtensionOf(name))) == MediaCategory.Archive;

    private void Add(string? name, NameSource source)
    {
        if (!string.IsNullOrEmpty(name))
            _names.Add((name, source));
    }

    // Old posts contain the poster's local path.
    private static string? LastElement(string? name) => name?[(name.LastIndexOfAny(['/', '\\']) + 1)..].Trim();
}

/// <summary>Validates paths from archives and PAR2 sets (IMP-43). Pure.</summary>
internal static class InnerPath
{
    /// <summary>Maximum folder depth, far more than any release has.</summary>
    public const int MaxFolders = 32;

    /// <summary>Splits a path into uncleaned elements. Backslashes separate too, because archives made on Windows contain them.</summary>
    /// <returns>
    /// Folders and name; null if the path is refused: absolute, with a drive, with <c>.</c> or <c>..</c>, ending in a folder, or deeper than
    /// <see cref="MaxFolders"/>. A leading <c>./</c>, as written by tar, is ignored.
    /// </returns>
    public static IReadOnlyList<string>? Split(string path)
    {
        ArgumentNullException.ThrowIfNull(path);
        path = path.Replace('\\', '/');
        while (path.StartsWith("./", StringComparison.Ordinal))
            path = path[2..];
        var hasDrive = path.Length >= 2 && path[1] == ':' && char.IsAsciiLetter(path[0]);
        if (hasDrive || path.StartsWith('/') || path.AsSpan().TrimEnd().EndsWith("/"))
            return null;

        var elements = path.Split('/', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
        return elements.Length is 0 or > MaxFolders + 1 || elements.Any(element => element is "." or "..") ? null : elements;
    }
}
