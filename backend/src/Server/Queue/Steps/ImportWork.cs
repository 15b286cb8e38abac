using System.Collections.Concurrent;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>State shared by the steps of one import. A property throws until its step has run.</summary>
/// <remarks>Used by one step at a time. A repeated step starts from the state left by the previous step. Owns resources that one step opens for a later
/// one.</remarks>
internal sealed class ImportWork(QueueItem item, DateTimeOffset startedAt, long began) : IAsyncDisposable
{
    // Open while the sample and the PAR2 indexes are being read.
    private ReleaseUse? _ids;
    private AvailabilitySample? _sample;
    private Par2Names? _names;

    public QueueItem Item { get; set; } = item;
    public DateTimeOffset StartedAt { get; } = startedAt;

    /// <summary>Timestamp of <see cref="StartedAt"/>, because the wall clock must not affect durations.</summary>
    public long Began { get; } = began;

    /// <summary>Whether volumes may be predicted. False after a wrong prediction, because every header must then be read.</summary>
    public bool MayPredict { get; init; } = true;

    /// <summary>Whether the release is already in the library. If so, its sample decides, even if the settings require a full check.</summary>
    public bool IsListed { get; init; }

    /// <summary>The NZB, read by this attempt or an earlier one; null until ReadNzb has run.</summary>
    public ReadPost? Read { get; set; }

    /// <summary>The files of the NZB grouped by use; set by ReadNzb.</summary>
    public PostSort Sort { get; set; } = PostSort.Nothing;

    /// <summary>The probed files; set by ProbeHeads. MapArchives moves PAR2 files to the end.</summary>
    public IReadOnlyList<FileHead> Heads { get; set; } = [];

    /// <summary>The sample of articles; set by ProbeHeads.</summary>
    public AvailabilitySample Sample => _sample ?? throw Early();

    /// <summary>Number of articles checked by CheckAvailability, and number of missing ones.</summary>
    public SampleCount Checked { get; set; }

    /// <summary>The PAR2 names; set by ResolveNames.</summary>
    public Par2Names Names => _names ?? throw Early();

    /// <summary>The map of the release; set by MapArchives.</summary>
    public ReleaseMap Map { get => field ?? throw Early(); set; }

    /// <summary>Keys of missing essential articles.</summary>
    public HashSet<string> Gone { get; } = new(StringComparer.Ordinal);

    /// <summary>The connections that delivered damaged articles. Thread-safe.</summary>
    public ConcurrentBag<object> Suspects { get; } = [];

    public List<StepTiming> Timings { get; } = [];

    public void NoteGone(MessageId id) => Gone.Add(DeadArticles.KeyOf(id));

    /// <summary>Takes ownership of message-ids and sample. Disposes earlier ones.</summary>
    public async ValueTask TakeAsync(ReleaseUse ids, AvailabilitySample sample)
    {
        await DisposeAsync();
        (_ids, _sample) = (ids, sample);
    }

    /// <summary>Takes ownership of the PAR2 index reader. Disposes an earlier one.</summary>
    public async ValueTask TakeAsync(Par2Names names)
    {
        if (_names is { } before)
            await before.DisposeAsync();
        _names = names;
    }

    public async ValueTask DisposeAsync()
    {
        // Names and the sample read ids until they are disposed, so dispose them first.
        if (_names is { } names)
            await names.DisposeAsync();
        if (_sample is { } sample)
            await sample.DisposeAsync();
        _ids?.Dispose();
        (_names, _sample, _ids) = (null, null, null);
    }

    private static InvalidOperationException Early() => new("The step that sets this has not run.");
}

/// <summary>A file of the NZB without its message-ids, which are in the release's list.</summary>
/// <param name="Ordinal">0-based number in the NZB.</param>
/// <param name="FirstSegment">Position of the first segment in the list.</param>
/// <param name="EncodedBytes">Encoded bytes according to the NZB; only a hint.</param>
internal sealed record PostedEntry(int Ordinal, int FirstSegment, int Segments, long EncodedBytes, NzbSubject Subject, byte[] IdsHash)
{
    public int Part { get; init; }

    public string? SubjectName => Subject.FileName;

    /// <summary>Positions of the file's message-ids in the list.</summary>
    public SegmentPlaces Places => SegmentPlaces.Range(FirstSegment, Segments);

    /// <summary>Reads a file of the NZB and appends its message-ids to the list.</summary>
    /// <exception cref="IOException">The NZB cannot be read, or the list cannot be written.</exception>
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

    public ProbeTarget ToTarget(ReleaseUse release) => new(Subject, release.Take(Places), EncodedBytes) { Part = Part };
}
