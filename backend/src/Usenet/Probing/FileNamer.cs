using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A file to name, as known from the probe.</summary>
/// <param name="Subject">File name in the subject; null if none. For archived files, the first volume's name.</param>
/// <param name="Yenc">Name in the yEnc header of the same posted file; null if none.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct NameRequest(string? Subject, string? Yenc, MediaKind Kind, long Length)
{
    /// <summary>The file's own name or path in PAR2; null if unknown. Never the name of a surrounding archive.</summary>
    public string? Par2 { get; init; }

    /// <summary>Path inside the innermost archive, as stored there; null for a posted or joined file.</summary>
    public string? Inner { get; init; }

    /// <summary>Whether the file was joined from pieces, so that a number at the end of the posted name belongs to the first piece.</summary>
    public bool IsJoined { get; init; }
}

/// <summary>The name assigned to a file.</summary>
/// <param name="Name">Clean and unique within its folder; empty if the file is refused.</param>
/// <param name="Original">The best posted name, unchanged, for display; equal to <paramref name="Name"/> if nothing was changed.</param>
public readonly record struct FileName(string Name, string Original, NameSource Source)
{
    /// <summary>The folder inside the release, with <c>/</c> as separator and clean elements; empty for the root.</summary>
    public string Folder { get; init; } = "";

    public string Path => Folder.Length == 0 ? Name : $"{Folder}/{Name}";

    /// <summary>Whether the path leads out of the release, so that the file is not published (IMP-43).</summary>
    public bool IsRefused => Name.Length == 0;
}

/// <summary>The origin of a file name, best first (IMP-40).</summary>
public enum NameSource
{
    Par2,

    Inner,

    Subject,

    Yenc,

    /// <summary>The name of the release, with the extension of the media kind.</summary>
    Release,
}

/// <summary>Names every file of a release. Pure: the result does not depend on the order of the files.</summary>
public static class FileNamer
{
    // A file with at least this percentage of the payload is the main file.
    private const int MainShare = 70;

    /// <summary>Names the files of a release, in the given order.</summary>
    /// <param name="files">All files to publish; volumes and PAR2 files keep their names.</param>
    /// <param name="windowsSafe">Whether names must also be valid on Windows.</param>
    public static IReadOnlyList<FileName> Name(string release, IReadOnlyList<NameRequest> files, bool windowsSafe)
    {
        ArgumentNullException.ThrowIfNull(release);
        ArgumentNullException.ThrowIfNull(files);

        var known = files.Select(file => new KnownNames(file)).ToList();
        PairSubtitles(known);
        var main = MainFile(known);
        var chosen = known.Select((names, i) => names.Choose(release, i == main)).ToList();
        var companions = new Companions(known, chosen, main);

        // The first of equal names stays unnumbered, so the order depends only on the files: longest first, companions last.
        var order = Enumerable.Range(0, files.Count)
            .Where(i => !known[i].IsRefused)
            .OrderBy(i => i == main ? 0 : companions.LeaderOf(i) is null ? 1 : 2)
            .ThenByDescending(i => files[i].Length)
            .ThenBy(i => chosen[i].Name, StringComparer.Ordinal)
            .ThenBy(i => chosen[i].Original, StringComparer.Ordinal)
            .ThenBy(i => files[i].Par2, StringComparer.Ordinal)
            .ThenBy(i => files[i].Inner, StringComparer.Ordinal)
            .ThenBy(i => files[i].Subject, StringComparer.Ordinal)
            .ThenBy(i => files[i].Yenc, StringComparer.Ordinal)
            .ThenBy(i => files[i].Kind)
            .ThenBy(i => files[i].IsJoined);

        var names = new FileName[files.Count];
        var folders = new FolderNames(known.Where(one => !one.IsRefused).Select(one => one.Folder), windowsSafe);
        for (var i = 0; i < files.Count; i++)
            names[i] = new FileName("", chosen[i].Original, chosen[i].Source);
        foreach (var i in order)
        {
            var name = companions.LeaderOf(i) is { } leader ? NameJudge.StemOf(names[leader.Index].Name) + leader.Ending : chosen[i].Name;
            var folder = folders.PathOf(known[i].Folder);
            names[i] = names[i] with { Name = folders.Add(folder, name), Folder = folder };
        }

        return names;
    }

    // VobSub pairs are detected by name, because a .sub has the signature of a video.
    private static void PairSubtitles(List<KnownNames> files)
    {
        var indexes = files.SelectMany(file => file.StemsWith("idx")).ToHashSet(StringComparer.OrdinalIgnoreCase);
        indexes.IntersectWith(files.SelectMany(file => file.StemsWith("sub")));
        foreach (var file in files)
            file.IsPaired = file.StemsWith("idx").Concat(file.StemsWith("sub")).Any(indexes.Contains);
    }

    private static int MainFile(List<KnownNames> files)
    {
        var total = 0m;
        var main = -1;
        for (var i = 0; i < files.Count; i++)
        {
            var file = files[i];
            if (file.IsRefused || MediaSignature.CategoryOf(file.Kind) == MediaCategory.Par2)
                continue;
            total += file.Length;
            if (!file.IsFixed && IsPayload(file) && (main < 0 || file.Length > files[main].Length))
                main = i;
        }

        return main >= 0 && files[main].Length > 0 && files[main].Length * 100m >= total * MainShare ? main : -1;
    }

    private static bool IsPayload(KnownNames file) =>
        file.IsMedia || file.IsPlain || file.Kind is MediaKind.Unknown or MediaKind.DiscImage;
}
