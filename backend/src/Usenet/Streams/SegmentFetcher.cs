using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>Brings segments into their slots: finds out what to ask for, and settles the slot with what comes of it.</summary>
/// <remarks>Thread-safe; one call per slot.</remarks>
internal sealed class SegmentFetcher(SharedFetches shared, DiskSegmentCache? disk, BlockPool blocks, ILogger logger)
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
            var key = new SegmentKey(ids, segment);
            if (disk?.Covers(slot.Piece) == true && await FindOnDiskAsync(key, slot, cancellationToken))
                return;
            await shared.BringAsync(key, slot, lane, urgency, cancellationToken);
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

    /// <summary>Serves the slot with what is kept on disk; where that is not all, until the reader wants the rest.</summary>
    /// <returns>Whether that was all.</returns>
    private async ValueTask<bool> FindOnDiskAsync(SegmentKey key, SegmentSlot slot, CancellationToken cancellationToken)
    {
        var name = DiskKey.Of(key);
        slot.Reads = new ReadBlocks(disk!, name, key.Segment.Length);
        if (shared.Has(key) || await disk!.FindAsync(name, key.Segment.Length, blocks) is not { } kept)
            return false;

        if (kept.IsWhole)
        {
            shared.Admit(key, kept);
            slot.Complete(kept);
            return true;
        }

        await slot.Lend(kept).WaitAsync(cancellationToken);
        return false;
    }
}
