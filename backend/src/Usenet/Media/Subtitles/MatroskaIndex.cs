using Sluice.Usenet.Media.Tracks;

namespace Sluice.Usenet.Media.Subtitles;

/// <summary>A cluster of a Matroska file.</summary>
/// <param name="Time">Time of the first indexed block in milliseconds; the cluster begins no later.</param>
/// <param name="Offset">Offset in the file.</param>
internal readonly record struct ClusterPlace(long Time, long Offset);

/// <summary>An indexed block of subtitles.</summary>
/// <param name="Time">Time in milliseconds.</param>
/// <param name="Duration">Duration in milliseconds; null if the index does not state it.</param>
/// <param name="Cluster">Offset of the cluster in the file.</param>
/// <param name="Relative">Offset of the block, relative to the cluster's content.</param>
internal readonly record struct CuePlace(long Time, long? Duration, long Cluster, long Relative);

/// <summary>The index of a Matroska file, <c>Cues</c> (RFC 9559 section 5.1.5). Immutable.</summary>
internal sealed class MatroskaIndex
{
    /// <summary>Maximum size of an index in bytes. An index with an entry for each frame of a long film has 4 MB.</summary>
    public const int MaxBytes = 8 << 20;

    // A film of three hours has 2,000 to 10,000 clusters.
    private const int MaxClusters = 100_000;
    private const int MaxPlaces = 200_000;

    private readonly IReadOnlyList<ClusterPlace> _clusters;
    private readonly Dictionary<ulong, List<CuePlace>> _places;

    private MatroskaIndex(IReadOnlyList<ClusterPlace> clusters, Dictionary<ulong, List<CuePlace>> places) => (_clusters, _places) = (clusters, places);

    /// <summary>Parses the content of <c>Cues</c>. Omits entries outside the file.</summary>
    /// <param name="segment">Offset to which the file's positions are relative.</param>
    /// <param name="tracks">Numbers of the text tracks.</param>
    public static MatroskaIndex Parse(ReadOnlySpan<byte> bytes, MatroskaClock clock, long segment, long fileLength, IReadOnlySet<ulong> tracks)
    {
        var clusters = new Dictionary<long, long>();
        var places = tracks.ToDictionary(static track => track, static _ => new List<CuePlace>());
        var incomplete = new HashSet<ulong>();
        var count = 0;
        var points = new EbmlElements(bytes);
        while (points.Next() && clusters.Count < MaxClusters && count < MaxPlaces)
        {
            if (points.Id != 0xBB)
                continue;
            var time = -1L;
            var parts = new EbmlElements(points.Content);
            while (parts.Next())
            {
                if (parts.Id == 0xB3)
                    time = clock.Milliseconds(EbmlHead.Number(parts.Content));
                if (parts.Id != 0xB7 || time < 0 || Position.Of(parts.Content) is not { } place || place.Cluster > (ulong)(fileLength - segment))
                    continue;
                var offset = segment + (long)place.Cluster;
                clusters[offset] = Math.Min(time, clusters.GetValueOrDefault(offset, long.MaxValue));
                if (!places.TryGetValue(place.Track, out var ofTrack))
                    continue;
                count++;
                if (place.Relative is { } relative && relative <= (ulong)fileLength)
                    ofTrack.Add(new CuePlace(time, place.Duration is { } duration ? clock.Milliseconds(duration) : null, offset, (long)relative));
                else
                    incomplete.Add(place.Track);
            }
        }

        foreach (var track in tracks.Where(track => places[track].Count == 0 || incomplete.Contains(track)))
            places.Remove(track);
        return new MatroskaIndex([.. clusters.Select(static entry => new ClusterPlace(entry.Value, entry.Key)).OrderBy(static cluster => cluster.Offset)], places);
    }

    public bool IsEmpty => _clusters.Count == 0;

    /// <summary>Returns the blocks of a track shown within a time range, in file order; null unless the index has all blocks of the track.</summary>
    public IReadOnlyList<CuePlace>? FindBlocks(ulong track, long from, long to) => _places.TryGetValue(track, out var places)
        ? [.. places.Where(place => place.Time < to && place.Time + Math.Max(place.Duration ?? 0, 1) > from).OrderBy(static place => (place.Cluster, place.Relative))]
        : null;

    /// <summary>Returns the bytes of a time range: from the cluster where it begins to the first cluster after the range, or to the end of the file.</summary>
    public (long Begin, long End) FindClusters(long from, long to, long fileLength)
    {
        var first = _clusters.LastOrDefault(cluster => cluster.Time <= from, _clusters[0]);
        var behind = _clusters.FirstOrDefault(cluster => cluster.Time >= to && cluster.Offset > first.Offset, new ClusterPlace(0, fileLength));
        return (first.Offset, behind.Offset);
    }

    /// <summary>Reads <c>CueTrackPositions</c>.</summary>
    private sealed record Position(ulong Track, ulong Cluster, ulong? Relative, ulong? Duration)
    {
        public static Position? Of(ReadOnlySpan<byte> bytes)
        {
            var found = new Position(0, 0, null, null);
            var parts = new EbmlElements(bytes);
            while (parts.Next())
            {
                var number = EbmlHead.Number(parts.Content);
                found = parts.Id switch
                {
                    0xF7 => found with { Track = number },
                    0xF1 => found with { Cluster = number },
                    0xF0 => found with { Relative = number },
                    0xB2 => found with { Duration = number },
                    _ => found,
                };
            }

            return found.Track > 0 && found.Cluster > 0 ? found : null;
        }
    }
}

/// <summary>Converts the times of a Matroska file to milliseconds.</summary>
/// <param name="Scale">Nanoseconds per time unit.</param>
internal readonly record struct MatroskaClock(ulong Scale)
{
    private const double NanosecondsOfMillisecond = 1_000_000;

    /// <summary>Converts time units to milliseconds; -1 if above <see cref="CueTime.Max"/>.</summary>
    public long Milliseconds(ulong units) => units * (double)Scale / NanosecondsOfMillisecond is var time and <= CueTime.Max ? (long)Math.Round(time) : -1;
}
