using Sluice.Server.History;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Decides from the map whether the release's main content can be streamed (IMP-54). Pure.</summary>
internal static class MapVerdict
{
    // A set smaller than this fraction of the largest film is a companion, such as subtitles, a sample or extras.
    private const int CompanionShare = 5;

    /// <summary>Returns why nothing can be published, or null. Unstreamable companions are omitted without failing the release.</summary>
    public static ImportFailure? Judge(ReleaseMap map, IReadOnlyList<FileHead> heads, int providers)
    {
        var stored = map.Files.Where(file => file.Method is null).ToList();
        var films = stored.Where(file => IsMedia(file, heads)).ToList();
        var longest = films.Select(file => file.Length).DefaultIfEmpty().Max();
        var essential = map.Refused.Where(set => films.Count == 0 || set.Bytes * CompanionShare >= longest).MaxBy(set => set.Bytes);
        var compressed = map.Files.Where(file => file.Method is not null).ToList();
        var packed = compressed.Where(file => IsMedia(file, heads) && !IsSample(file)).MaxBy(file => file.Length)
            ?? (films.Count == 0 && compressed.Sum(file => file.Length) >= stored.Sum(file => file.Length) ? compressed.MaxBy(file => file.Length) : null);

        if (packed is not null && (essential is null || packed.Length >= essential.Bytes))
            return ImportFailure.CompressedArchive(NameOf(packed, heads), packed.Method!);
        return essential is null ? null : Explain(essential, providers);
    }

    private static ImportFailure Explain(RefusedSet set, int providers) => set.Fault switch
    {
        ArchiveFault.Incomplete => ImportFailure.IncompleteSet(set.Have, set.Need),
        ArchiveFault.NoPassword => ImportFailure.EncryptedNoPassword(),
        ArchiveFault.WrongPassword => ImportFailure.WrongPassword(),
        ArchiveFault.Broken => ImportFailure.BrokenArchive(set.Detail),
        ArchiveFault.Gone => ImportFailure.MissingArticles(set.Name, 1, 1, providers),
        ArchiveFault.Damaged => ImportFailure.CorruptArticles(set.Name),
        _ => ImportFailure.UnsupportedArchive(NameOf(set.Format), set.Detail),
    };

    private static string NameOf(ArchiveFormat format) => format switch
    {
        ArchiveFormat.Rar4 or ArchiveFormat.Rar5 => "RAR",
        ArchiveFormat.SevenZip => "7z",
        ArchiveFormat.Zip => "zip",
        ArchiveFormat.Tar => "tar",
        _ => "Split",
    };

    private static string NameOf(MappedFile file, IReadOnlyList<FileHead> heads) =>
        file.InnerPath is { Length: > 0 } path ? path[(path.LastIndexOfAny(['/', '\\']) + 1)..] : heads[file.NamedBy].Subject.FileName ?? "A file";

    private static bool IsMedia(MappedFile file, IReadOnlyList<FileHead> heads) =>
        NameJudge.CategoryOf(NameOf(file, heads), file.Kind) is MediaCategory.Video or MediaCategory.Audio || file.Kind == MediaKind.DiscImage;

    private static bool IsSample(MappedFile file) => ReleaseFilter.SaysSample(file.InnerPath ?? "");
}
