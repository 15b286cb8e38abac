using Sluice.Server.Library;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>A file of the NZB, without its message-ids, which are in the release's list.</summary>
/// <param name="Ordinal">Number in the NZB, 0-based.</param>
/// <param name="FirstSegment">Place of its first segment in the list.</param>
/// <param name="Segments">Number of its segments.</param>
/// <param name="EncodedBytes">Size in bytes as the NZB claims it; a hint.</param>
/// <param name="Subject">What its subject tells.</param>
/// <param name="IdsHash">Its <see cref="Library.IdsHash"/>.</param>
internal sealed record PostedEntry(int Ordinal, int FirstSegment, int Segments, long EncodedBytes, NzbSubject Subject, byte[] IdsHash)
{
    /// <summary>File name in the subject, or null.</summary>
    public string? SubjectName => Subject.FileName;

    /// <summary>Takes what is needed of a file, and writes its message-ids into the list.</summary>
    /// <exception cref="IOException">The list, or what the file is read from, failed.</exception>
    public static async Task<PostedEntry> ReadAsync(int ordinal, NzbFile file, MessageIdListWriter list, CancellationToken cancellationToken)
    {
        var (first, bytes) = (list.Count, 0L);
        using var hash = new IdsHash();
        foreach (var segment in file.Segments)
        {
            bytes += segment.Bytes;
            hash.Append(segment.Ids);
            await list.AddAsync(segment.Ids, cancellationToken);
        }

        return new PostedEntry(ordinal, first, file.Segments.Count, bytes, NzbSubject.Parse(file.Subject), hash.Finish());
    }
}
