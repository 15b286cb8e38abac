using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>The name that was chosen for a file, before it is cleaned and made unique.</summary>
/// <param name="Name">The name, without folder.</param>
/// <param name="Original">The best one that was posted.</param>
/// <param name="Source">Where it comes from.</param>
internal readonly record struct ChosenName(string Name, string Original, NameSource Source);

/// <summary>All that one file is called, best source first, and the choice among it (IMP-40 to IMP-42).</summary>
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

    /// <summary>What it is by its first bytes.</summary>
    public MediaKind Kind { get; }

    /// <summary>Its length in bytes.</summary>
    public long Length { get; }

    /// <summary>The folder that it lies in, not cleaned.</summary>
    public IReadOnlyList<string> Folder { get; }

    /// <summary>Whether its path leads out of the release.</summary>
    public bool IsRefused { get; }

    /// <summary>Whether it is published as it is although it is an archive inside (IMP-58).</summary>
    public bool IsPlain { get; }

    /// <summary>Whether players find it by its name, so that it keeps it.</summary>
    public bool IsDiscPart { get; }

    /// <summary>Whether it is one of a subtitle stream and its index, which looks like a video and is none.</summary>
    public bool IsPaired { get; set; }

    /// <summary>Whether it keeps name and extension whatever they say, and is never what the release is about.</summary>
    public bool IsFixed => IsDiscPart || IsPaired;

    /// <summary>Something to watch or to listen to by its first bytes.</summary>
    public bool IsMedia => !IsPlain && MediaSignature.CategoryOf(Kind) is MediaCategory.Video or MediaCategory.Audio;

    /// <summary>The best name that was posted, or null.</summary>
    public string? Original { get; }

    /// <summary>All names, the best one first.</summary>
    public IEnumerable<string> All => _names.Select(known => known.Name);

    /// <summary>Whether it is an archive or PAR2: the order of volumes and the work of PAR2 hang on the names that were posted.</summary>
    public bool IsVolume => !IsPlain && MediaSignature.CategoryOf(Kind) is MediaCategory.Archive or MediaCategory.Par2;

    /// <summary>Folder and stem of each name that has an extension.</summary>
    public IEnumerable<string> StemsWith(string extension) =>
        All.Where(name => NameJudge.ExtensionOf(name).Equals(extension, StringComparison.OrdinalIgnoreCase))
            .Select(name => string.Join('/', [.. Folder, NameJudge.StemOf(name)]));

    /// <summary>Chooses.</summary>
    /// <param name="release">Name of the release.</param>
    /// <param name="isMain">Whether the file is what the release is about.</param>
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

    /// <summary>The extension that a new name gets: the one it has where that is right, else the usual one; empty where none is known.</summary>
    private string Extension()
    {
        var right = IsPlain ? [] : MediaSignature.ExtensionsOf(Kind);
        var posted = All.Select(NameJudge.ExtensionOf).FirstOrDefault(extension => extension.Any(char.IsAsciiLetter)) ?? "";
        return right.Count == 0 || right.Contains(posted.ToLowerInvariant()) ? posted : right[0];
    }

    // An extension that belongs to another kind is replaced, one that belongs to none is part of the title.
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

    /// <summary>What a file is called after the archive or the pieces that it lay in.</summary>
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

    // Posters of old wrote the path of their own disk.
    private static string? LastElement(string? name) => name?[(name.LastIndexOfAny(['/', '\\']) + 1)..].Trim();
}

/// <summary>Decides which paths of archives and PAR2 sets are names (IMP-43). Pure.</summary>
internal static class InnerPath
{
    /// <summary>Most folders that a file may lie in, far more than any release has.</summary>
    public const int MaxFolders = 32;

    /// <summary>Splits a path into its elements, which are not cleaned yet.</summary>
    /// <param name="path">As the archive has it. Both slashes separate: archives made on Windows have the other one.</param>
    /// <returns>
    /// Folders and name, or null where the path is refused and its file not published: it is absolute, begins with a drive, holds
    /// <c>.</c> or <c>..</c>, ends in a folder or is deeper than <see cref="MaxFolders"/>. A <c>./</c> that it begins with says nothing and is
    /// left out; tar writes it.
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
