using System.Collections.Concurrent;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>The state that the steps of one import hand on to each other.</summary>
/// <remarks>
/// Used by one step at a time. A step that is run again starts from the state that the step before has left. Owns what a step has begun and a
/// later one ends.
/// </remarks>
internal sealed class ImportWork(QueueItem item, DateTimeOffset startedAt, long began) : IAsyncDisposable
{
    /// <summary>The item.</summary>
    public QueueItem Item { get; set; } = item;

    /// <summary>When the work began.</summary>
    public DateTimeOffset StartedAt { get; } = startedAt;

    /// <summary>Timestamp of the same moment, from which durations are measured.</summary>
    public long Began { get; } = began;

    /// <summary>Whether volumes may be predicted; not where a prediction was refuted.</summary>
    public bool MayPredict { get; init; } = true;

    /// <summary>What reading the NZB has told, in this try or one before; null until then.</summary>
    public ReadPost? Read { get; set; }

    /// <summary>The files of the NZB by what becomes of them, left by ReadNzb.</summary>
    public PostSort Sort { get; set; } = PostSort.Nothing;

    /// <summary>The message-ids of the release, open from ProbeHeads on.</summary>
    public ReleaseUse? Ids { get; private set; }

    /// <summary>The sample of its articles, asked for from ProbeHeads on.</summary>
    public AvailabilitySample? Sample { get; private set; }

    /// <summary>What ProbeHeads has found out about the files that are probed; from MapArchives on PAR2 files come last.</summary>
    public IReadOnlyList<FileHead> Heads { get; set; } = [];

    /// <summary>What the PAR2 indexes say, read from ResolveNames on.</summary>
    public Par2Names? Names { get; private set; }

    /// <summary>What the release brings, found by MapArchives.</summary>
    public ReleaseMap? Map { get; set; }

    /// <summary>Articles that are gone and without which there is no release, by <see cref="DeadArticles.KeyOf"/>.</summary>
    public HashSet<string> Gone { get; } = new(StringComparer.Ordinal);

    /// <summary>The connections that damaged articles came over; added to by many threads.</summary>
    public ConcurrentBag<object> Suspects { get; } = [];

    /// <summary>Timings of the steps so far.</summary>
    public List<StepTiming> Timings { get; } = [];

    /// <summary>Takes the message-ids of the release, and the sample of them; those of a try before are given back.</summary>
    public async ValueTask TakeAsync(ReleaseUse ids, AvailabilitySample sample)
    {
        await DisposeAsync();
        (Ids, Sample) = (ids, sample);
    }

    /// <summary>Takes what reads the PAR2 indexes; that of a try before is given back.</summary>
    public async ValueTask TakeAsync(Par2Names names)
    {
        if (Names is { } before)
            await before.DisposeAsync();
        Names = names;
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        // Both read ids until they have ended.
        if (Names is { } names)
            await names.DisposeAsync();
        if (Sample is { } sample)
            await sample.DisposeAsync();
        Ids?.Dispose();
        (Names, Sample, Ids) = (null, null, null);
    }
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
    /// <summary>Its <see cref="NzbFile.Part"/>.</summary>
    public int Part { get; init; }

    /// <summary>File name in the subject, or null.</summary>
    public string? SubjectName => Subject.FileName;

    /// <summary>Where its message-ids stand in the list.</summary>
    public SegmentPlaces Places => SegmentPlaces.Range(FirstSegment, Segments);

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

        return new PostedEntry(ordinal, first, file.Segments.Count, bytes, NzbSubject.Parse(file.Subject), hash.Finish()) { Part = file.Part };
    }

    /// <summary>The file as a probe takes it.</summary>
    public ProbeTarget ToTarget(ReleaseUse release) => new(Subject, release.Take(Places), EncodedBytes) { Part = Part };
}
