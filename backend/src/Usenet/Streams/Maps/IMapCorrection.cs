namespace Sluice.Usenet.Streams.Maps;

/// <summary>
/// Looks into what an article says against the map of one posted file, and finds and keeps the map that holds. The length of the
/// file is final before the file is visible, so no correction changes it.
/// </summary>
/// <remarks>Thread-safe; any number of readers may meet the same contradiction.</remarks>
public interface IMapCorrection
{
    /// <summary>Whether a claim is worth looking into. Once it has been found to be untrue, its article is damaged like any other.</summary>
    /// <param name="claim">Where an intact article says that its bytes lie.</param>
    bool MayBelieve(Segment claim);

    /// <summary>Looks into a claim.</summary>
    /// <param name="refuted">The map that it contradicts.</param>
    /// <param name="claim">Where an intact article says that its bytes lie.</param>
    /// <param name="cancellationToken">Gives up; nothing has changed then.</param>
    /// <returns>The map that holds, of the same count and length: with the claim in it, or without it where it is not believed.</returns>
    /// <exception cref="Nntp.NntpException">The articles beside it could not be asked for, or not in time.</exception>
    /// <exception cref="IOException">The stored message-ids are lost.</exception>
    Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken);
}
