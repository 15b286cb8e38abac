using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>A posted file as a stream needs it: where its bytes lie and which articles to request.</summary>
/// <remarks>Immutable; safe to share between streams.</remarks>
public sealed record PostedFile
{
    /// <exception cref="ArgumentException">Map and ids have different numbers of segments.</exception>
    public PostedFile(SegmentMap map, ISegmentIds ids)
    {
        ArgumentNullException.ThrowIfNull(map);
        ArgumentNullException.ThrowIfNull(ids);
        if (map.Count != ids.Count)
            throw new ArgumentException($"The map has {map.Count} segments, the list of ids {ids.Count}.", nameof(ids));
        Map = map;
        Ids = ids;
        Origin = new FileOrigin(ids, map.Length);
    }

    /// <summary>Where each segment begins and ends.</summary>
    public SegmentMap Map { get; }

    /// <summary>The file for which it is fetched; by default a file of its own.</summary>
    public FileOrigin Origin { get; init; }

    /// <summary>The message-ids, in the order of the segments.</summary>
    public ISegmentIds Ids { get; }

    /// <summary>Checks articles that contradict the map; null to treat such articles as damaged.</summary>
    public IMapCorrection? Correction { get; init; }

    /// <summary>The evidence that its articles carry; by default learned while the file is read.</summary>
    public FileHabit Habit { get; init; } = new();

    /// <summary>Returns the same file with a corrected map of the same length.</summary>
    internal PostedFile With(SegmentMap corrected) => new(corrected, Ids) { Origin = Origin, Correction = Correction, Habit = Habit };
}
