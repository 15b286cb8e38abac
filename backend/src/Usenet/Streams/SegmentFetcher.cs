using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>Brings segments into their slots: finds out what to ask for, and settles the slot with what comes of it.</summary>
/// <remarks>Thread-safe; one call per slot.</remarks>
internal sealed class SegmentFetcher(SharedFetches shared, ILogger logger)
{
    /// <summary>Fills the slot, whatever it takes. Never fails: the outcome is the slot's.</summary>
    /// <param name="slot">Where the segment goes.</param>
    /// <param name="lane">Why it is fetched.</param>
    /// <param name="urgency">How urgently its reader wants it; may rise later.</param>
    /// <param name="cancellationToken">The slot does not want it any more; others may.</param>
    public async Task FetchAsync(SegmentSlot slot, OperationLane lane, FetchUrgency urgency, CancellationToken cancellationToken)
    {
        var segment = slot.Piece.Segment;
        try
        {
            var ids = await slot.Piece.File.Ids.GetAsync(segment.Index, cancellationToken);
            if (ids.Primary.IsEmpty)
                throw new ArticleGoneException(ArticleLoss.NeverPosted, segment.Index);
            await shared.BringAsync(new SegmentKey(ids, segment), slot, lane, urgency, cancellationToken);
        }
        catch (Exception failure) when (failure is IOException or OperationCanceledException or ObjectDisposedException)
        {
            slot.Fail(failure);
        }
        catch (Exception failure)
        {
            // A defect of ours must not leave a reader waiting for ever.
            StreamsLog.FetchBroke(logger, failure);
            slot.Fail(new IOException("The article could not be read.", failure));
        }
    }
}
