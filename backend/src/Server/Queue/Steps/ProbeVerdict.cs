using Sluice.Server.History;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>Decides from the heads whether the release is worth publishing at all (IMP-62). Pure.</summary>
internal static class ProbeVerdict
{
    /// <summary>Returns why nothing can be published, or null.</summary>
    public static ImportFailure? Judge(IReadOnlyList<FileHead> files, int providers)
    {
        var payload = files.Where(file => file.Kind != MediaKind.Par2).ToList();
        var asked = payload.Where(file => file.State != HeadState.Skipped).ToList();
        if (asked.Count > 0 && asked.All(file => file.State == HeadState.Missing))
            return ImportFailure.DeadPost(asked.Count, providers);

        var segments = payload.Sum(file => (long)file.Ids.Count);
        foreach (var file in asked.Where(file => IsLost(file, segments)))
        {
            if (file.TooLongToCount is { } encoding)
                return ImportFailure.TooLongToCount(encoding);
            var name = file.Subject.FileName ?? file.Header?.Name ?? "A file";
            return file.MissingArticles > 0
                ? ImportFailure.MissingArticles(name, file.MissingArticles, file.AskedArticles, providers)
                : ImportFailure.CorruptArticles(name);
        }

        return null;
    }

    /// <summary>Whether a file is both unusable and essential.</summary>
    /// <param name="segments">Number of segments of the whole payload.</param>
    public static bool IsLost(FileHead file, long segments) => !IsUsable(file) && IsEssential(file, segments);

    /// <summary>Whether enough of the file is known to publish it. Unusable companion files are omitted.</summary>
    public static bool IsUsable(FileHead file) => file.State switch
    {
        HeadState.Skipped => true,
        HeadState.Found => file.MissingArticles == 0
            && (file.Map is not null || MediaSignature.CategoryOf(file.Kind) is MediaCategory.Archive or MediaCategory.Par2),
        _ => false,
    };

    // Essential: media by content or name, and any file that makes up half of the post. Volumes are judged as a set.
    private static bool IsEssential(FileHead file, long segments) =>
        (file.Ids.Count * 2L >= segments && file.Kind != MediaKind.Par2)
        || NameJudge.CategoryOf(file.Subject.FileName ?? "", file.Kind) is MediaCategory.Video or MediaCategory.Audio;
}
