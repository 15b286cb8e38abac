using Sluice.Usenet.Archives;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Explains with the reasons of the import contract (section 9) why a release cannot be streamed. Pure.</summary>
internal static class MapRefusal
{
    /// <summary>Throws if nothing of a map can be streamed.</summary>
    /// <exception cref="RefusedException">A video or audio file is compressed, or no file is left.</exception>
    public static void ThrowIfUseless(ReleaseMap map, IReadOnlyList<FileHead> heads)
    {
        if (map.Files.FirstOrDefault(file => file.Method is not null && IsMedia(file.Kind, file.InnerPath)) is { } packed)
            throw new RefusedException("CompressedArchive", $"{packed.InnerPath} is compressed ({packed.Method}); only stored archives can be streamed.");
        if (map.Files.Any(file => file is { Method: null, Length: > 0 }))
            return;
        if (map.Refused.MaxBy(set => set.Bytes) is { } refused)
            throw new RefusedException(ReasonOf(refused.Fault), $"{refused.Name}: {refused.Detail} ({refused.Have} of {refused.Need} volumes)");
        if (map.Files.FirstOrDefault(file => file.Method is not null) is { } companion)
            throw new RefusedException("CompressedArchive", $"{companion.InnerPath} is compressed ({companion.Method}); only stored archives can be streamed.");
        throw (heads.Count == 0 ? null : heads[0].State as HeadState?) switch
        {
            null => new RefusedException("NoMedia", "The release holds no video or audio file."),
            HeadState.Missing => new RefusedException(
                "DeadPost", heads.Count == 1 ? "The post is gone: its first article is missing." : $"The post is gone: none of {heads.Count} first articles exists."),
            _ => new RefusedException("CorruptArticles", $"{heads[0].Subject.FileName ?? "A file"}: an article it cannot do without is damaged at every provider."),
        };
    }

    private static bool IsMedia(MediaKind kind, string? path) =>
        MediaSignature.CategoryOf(kind) is MediaCategory.Video or MediaCategory.Audio
        || Path.GetExtension(path ?? "").ToLowerInvariant() is ".mkv" or ".mp4" or ".avi" or ".ts" or ".m4v" or ".mp3" or ".flac";

    private static string ReasonOf(ArchiveFault fault) => fault switch
    {
        ArchiveFault.Unsupported => "UnsupportedArchive",
        ArchiveFault.Incomplete => "IncompleteSet",
        ArchiveFault.NoPassword => "EncryptedNoPassword",
        ArchiveFault.WrongPassword => "WrongPassword",
        ArchiveFault.Gone => "MissingArticles",
        ArchiveFault.Damaged => "CorruptArticles",
        _ => "BrokenArchive",
    };
}
