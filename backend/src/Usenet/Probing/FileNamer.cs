using Sluice.Usenet.Media;

namespace Sluice.Usenet.Probing;

/// <summary>A file that needs a name, as far as the probe knows it.</summary>
/// <param name="Subject">File name in the subject, or null. For files that lie in volumes: that of the first volume.</param>
/// <param name="Yenc">Name in the yEnc header, or null; of the same posted file.</param>
/// <param name="Kind">What it is by its first bytes.</param>
/// <param name="Length">Its length in bytes.</param>
public readonly record struct NameRequest(string? Subject, string? Yenc, MediaKind Kind, long Length)
{
    /// <summary>Name in the PAR2 description of the file itself, which may be a path; null where none fits. Never that of an archive around it.</summary>
    public string? Par2 { get; init; }

    /// <summary>Its path inside the innermost archive, as written there; null for posted and joined files.</summary>
    public string? Inner { get; init; }

    /// <summary>Whether it was joined from pieces, so that a number at the end of a posted name is that of the first one.</summary>
    public bool IsJoined { get; init; }
}

/// <summary>The name that a file gets.</summary>
/// <param name="Name">Clean and unique within its folder; empty where the file is refused.</param>
/// <param name="Original">The best name that was posted, as it was posted, for display; equal to <paramref name="Name"/> when nothing was changed.</param>
/// <param name="Source">Where it comes from.</param>
public readonly record struct FileName(string Name, string Original, NameSource Source)
{
    /// <summary>The folder inside the release, separated by <c>/</c>, each part clean; empty for the release itself.</summary>
    public string Folder { get; init; } = "";

    /// <summary>Folder and name.</summary>
    public string Path => Folder.Length == 0 ? Name : $"{Folder}/{Name}";

    /// <summary>Whether its path leads out of the release, so that it is not published (IMP-43).</summary>
    public bool IsRefused => Name.Length == 0;
}

/// <summary>Where the name of a file comes from, best first (IMP-40).</summary>
public enum NameSource
{
    /// <summary>The description in a PAR2 set.</summary>
    Par2,

    /// <summary>The name inside the archive.</summary>
    Inner,

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

        var known = files.Select(file => new KnownNames(file)).ToList();
        PairSubtitles(known);
        var main = MainFile(known);
        var chosen = known.Select((names, i) => names.Choose(release, i == main)).ToList();
        var companions = new Companions(known, chosen, main);

        // Of equal names the first file gets the plain one, so the order follows from the files alone: the longest first, companions last.
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

    // The stream of VobSub is a video by its first bytes.
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
