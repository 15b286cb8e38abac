using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>The segment map and the articles of a posted file, for streams. Immutable; safe to share between streams.</summary>
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

    public SegmentMap Map { get; }

    /// <summary>The user-visible file that contains this one; by default, this file alone.</summary>
    public FileOrigin Origin { get; init; }

    public ISegmentIds Ids { get; }

    /// <summary>Checks articles that contradict the map; null to treat such articles as damaged.</summary>
    public IMapCorrection? Correction { get; init; }

    /// <summary>The evidence that the file's articles carry; by default learned while the file is read.</summary>
    public FileHabit Habit { get; init; } = new();

    internal PostedFile With(SegmentMap corrected) => new(corrected, Ids) { Origin = Origin, Correction = Correction, Habit = Habit };
}
