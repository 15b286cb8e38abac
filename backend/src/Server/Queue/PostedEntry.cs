using Sluice.Server.Library;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>A file of the NZB, without its message-ids, which are in the release's list.</summary>
/// <param name="Ordinal">Number in the NZB, 0-based.</param>
/// <param name="FirstSegment">Place of its first segment in the list.</param>
/// <param name="Segments">Number of its segments.</param>
/// <param name="EncodedBytes">Size in bytes as the NZB claims it; a hint.</param>
/// <param name="Subject">What its subject tells.</param>
/// <param name="IdsHash">By <see cref="ContentTag.HashIds"/>.</param>
internal sealed record PostedEntry(int Ordinal, int FirstSegment, int Segments, long EncodedBytes, NzbSubject Subject, byte[] IdsHash)
{
    /// <summary>File name in the subject, or null.</summary>
    public string? SubjectName => Subject.FileName;

    /// <summary>Takes what is needed of a file.</summary>
    public static PostedEntry Of(int ordinal, int firstSegment, NzbFile file) => new(
        ordinal,
        firstSegment,
        file.Segments.Count,
        file.Segments.Sum(segment => (long)segment.Bytes),
        NzbSubject.Parse(file.Subject),
        ContentTag.HashIds(file.Segments.Select(segment => segment.Ids)));
}
