using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// Checks the claim of an article that contradicts the map of its posted file, then finds and stores the right map. The length of the posted file changes only
/// if it was an estimate, and always covers every slice.
/// </summary>
/// <remarks>Thread-safe; any number of readers may report the same contradiction.</remarks>
public interface IMapCorrection
{
    /// <summary>Whether the range that an intact article claims is worth checking. Once a claim is found false, its article counts as damaged.</summary>
    bool MayBelieve(Segment claim);

    /// <summary>Checks the range that an intact article claims against the <paramref name="refuted"/> map. Cancellation changes nothing.</summary>
    /// <returns>The right map, with the same number of segments. Contains the claimed range unless the claim is false.</returns>
    /// <exception cref="RefutedExtentException">The map is so wrong that the release must be mapped again, which has begun.</exception>
    /// <exception cref="Nntp.NntpException">The neighboring articles could not be fetched, or not in time.</exception>
    /// <exception cref="IOException">The stored message-ids are lost.</exception>
    Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken);
}
