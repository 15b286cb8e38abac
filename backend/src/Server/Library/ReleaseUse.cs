using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>One reader's hold on the message-ids of a release.</summary>
/// <remarks>Thread-safe. What was taken is valid until it is disposed.</remarks>
internal sealed class ReleaseUse(ReleaseIds ids, Action leave) : IDisposable
{
    private int _isLeft;

    /// <summary>The ids of one posted file.</summary>
    /// <param name="places">Where they stand in the list.</param>
    /// <exception cref="StoredNzbLostException">The list is too short to be that of this release.</exception>
    public ISegmentIds Take(SegmentPlaces places) => ids.Take(places);

    /// <inheritdoc/>
    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isLeft, 1) == 0)
            leave();
    }
}
