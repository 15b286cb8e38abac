using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams.Maps;

/// <summary>A posted file as a stream needs it: where its bytes live and what to ask for.</summary>
/// <remarks>Immutable; safe to share between streams.</remarks>
public sealed record PostedFile
{
    /// <summary>Joins geometry and ids.</summary>
    /// <exception cref="ArgumentException">They speak of different numbers of segments.</exception>
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

    /// <summary>The file that it is fetched for; a file of its own where nothing else is said.</summary>
    public FileOrigin Origin { get; init; }

    /// <summary>The message-ids, in the same order.</summary>
    public ISegmentIds Ids { get; }

    /// <summary>Told when an article contradicts the map; null: such an article is damaged like any other.</summary>
    public IMapCorrection? Correction { get; init; }

    /// <summary>What its articles carry; learned while it is read where nothing else is said.</summary>
    public FileHabit Habit { get; init; } = new();

    /// <summary>The same file with a corrected map of the same length.</summary>
    internal PostedFile With(SegmentMap corrected) => new(corrected, Ids) { Origin = Origin, Correction = Correction, Habit = Habit };
}
