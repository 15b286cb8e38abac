using System.Collections.Concurrent;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue.Steps;

/// <summary>What the steps of one import hand on to each other. A property throws if the step that sets it has not run.</summary>
/// <remarks>
/// One step at a time uses it. A repeated step starts from what the step before it left. Disposes what one step starts and a later
/// one ends.
/// </remarks>
internal sealed class ImportWork(QueueItem item, DateTimeOffset startedAt, long began) : IAsyncDisposable
{
    // The ids of the release stay open as long as the sample and the PAR2 indexes are read.
    private ReleaseUse? _ids;
    private AvailabilitySample? _sample;
    private Par2Names? _names;

    public QueueItem Item { get; set; } = item;
    public DateTimeOffset StartedAt { get; } = startedAt;

    /// <summary>Timestamp of <see cref="StartedAt"/>, because durations must not depend on the wall clock.</summary>
    public long Began { get; } = began;

    /// <summary>False if a prediction was refuted, because then every header must be read.</summary>
    public bool MayPredict { get; init; } = true;

    /// <summary>True if the release is in the library already. Then its sample decides, whatever the settings say about every article.</summary>
    public bool IsListed { get; init; }

    /// <summary>The NZB as this try or an earlier one read it; null until ReadNzb has run.</summary>
    public ReadPost? Read { get; set; }

    /// <summary>The files of the NZB by their use, set by ReadNzb.</summary>
    public PostSort Sort { get; set; } = PostSort.Nothing;

    /// <summary>The probed files, set by ProbeHeads. MapArchives moves PAR2 files to the end.</summary>
    public IReadOnlyList<FileHead> Heads { get; set; } = [];

    /// <summary>Set by ProbeHeads.</summary>
    public AvailabilitySample Sample => _sample ?? throw Early();

    /// <summary>The articles that CheckAvailability asked for, and how many of them no provider has.</summary>
    public SampleCount Checked { get; set; }

    /// <summary>Set by ResolveNames.</summary>
    public Par2Names Names => _names ?? throw Early();

    /// <summary>Set by MapArchives.</summary>
    public ReleaseMap Map { get => field ?? throw Early(); set; }

    /// <summary>Keys of missing articles that the release cannot do without.</summary>
    public HashSet<string> Gone { get; } = new(StringComparer.Ordinal);

    /// <summary>The connections that damaged articles came over. Thread-safe.</summary>
    public ConcurrentBag<object> Suspects { get; } = [];

    public List<StepTiming> Timings { get; } = [];

    public void NoteGone(MessageId id) => Gone.Add(DeadArticles.KeyOf(id));

    /// <summary>Takes ownership of the message-ids and their sample, and disposes earlier ones.</summary>
    public async ValueTask TakeAsync(ReleaseUse ids, AvailabilitySample sample)
    {
        await DisposeAsync();
        (_ids, _sample) = (ids, sample);
    }

    /// <summary>Takes ownership of the reader of the PAR2 indexes, and disposes an earlier one.</summary>
    public async ValueTask TakeAsync(Par2Names names)
    {
        if (_names is { } before)
            await before.DisposeAsync();
        _names = names;
    }

    public async ValueTask DisposeAsync()
    {
        // Both read ids until they are disposed.
        if (_names is { } names)
            await names.DisposeAsync();
        if (_sample is { } sample)
            await sample.DisposeAsync();
        _ids?.Dispose();
        (_names, _sample, _ids) = (null, null, null);
    }

    private static InvalidOperationException Early() => new("The step that sets this has not run.");
}

/// <summary>A file of the NZB without its message-ids, which are in the list of the release.</summary>
/// <param name="Ordinal">0-based number in the NZB.</param>
/// <param name="FirstSegment">Place of its first segment in the list.</param>
/// <param name="EncodedBytes">In bytes as the NZB claims it; a hint.</param>
internal sealed record PostedEntry(int Ordinal, int FirstSegment, int Segments, long EncodedBytes, NzbSubject Subject, byte[] IdsHash)
{
    public int Part { get; init; }

    public string? SubjectName => Subject.FileName;

    /// <summary>Places of its message-ids in the list.</summary>
    public SegmentPlaces Places => SegmentPlaces.Range(FirstSegment, Segments);

    /// <summary>Reads a file of the NZB and appends its message-ids to the list.</summary>
    /// <exception cref="IOException">The list or the NZB cannot be read or written.</exception>
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
