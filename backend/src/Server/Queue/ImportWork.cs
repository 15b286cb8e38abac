using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Media;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Queue;

/// <summary>The state that the steps of one import hand on to each other.</summary>
/// <remarks>Used by one step at a time. A step that is run again starts from the state that the step before has left.</remarks>
internal sealed class ImportWork(QueueItem item, DateTimeOffset startedAt, long began)
{
    /// <summary>The item.</summary>
    public QueueItem Item { get; set; } = item;

    /// <summary>When the work began.</summary>
    public DateTimeOffset StartedAt { get; } = startedAt;

    /// <summary>Timestamp of the same moment, from which durations are measured.</summary>
    public long Began { get; } = began;

    /// <summary>What reading the NZB has told, in this try or one before; null until then.</summary>
    public ReadPost? Read { get; set; }

    /// <summary>The files of the NZB that may become library files, left by ReadNzb; PAR2 files only where they are shown.</summary>
    public IReadOnlyList<PostedEntry> Payload { get; set; } = [];

    /// <summary>What ProbeHeads found out about each of them that can be used.</summary>
    public IReadOnlyList<ProbedEntry> Probed { get; set; } = [];

    /// <summary>Timings of the steps so far.</summary>
    public List<StepTiming> Timings { get; } = [];
}

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

    /// <summary>Reads a file of the NZB, and writes its message-ids into the list.</summary>
    /// <exception cref="IOException">The list or the source of the file failed.</exception>
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

/// <summary>The findings of the probe about a posted file, which the NZB may list as one file or as many.</summary>
/// <param name="Ordinal">Number of its first entry in the NZB.</param>
/// <param name="Places">Where the ids of its segments are.</param>
/// <param name="IdsHashes">Id hashes of its entries in order.</param>
/// <param name="SubjectName">File name in the subject, or null.</param>
/// <param name="YencName">Name in the header of its first article, or null.</param>
/// <param name="Kind">Its kind by its first bytes.</param>
/// <param name="Map">Where each segment begins and ends; null for archives, which are of no use by themselves.</param>
/// <param name="Habit">What its articles carry, as far as the probe has seen it.</param>
internal sealed record ProbedEntry(
    int Ordinal,
    SegmentPlaces Places,
    IReadOnlyList<byte[]> IdsHashes,
    string? SubjectName,
    string? YencName,
    MediaKind Kind,
    SegmentMap? Map,
    ArticleHabit Habit);
