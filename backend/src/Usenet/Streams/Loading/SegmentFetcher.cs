using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Streams;

/// <summary>Brings segments into their slots: finds out what to ask for, and settles the slot with what comes of it.</summary>
/// <remarks>Thread-safe; one call per slot.</remarks>
internal sealed class SegmentFetcher(SharedFetches shared, DiskSegmentCache? disk, BlockPool blocks, ILogger logger)
{
    /// <summary>Begins to fill the slot, whatever it takes. Never fails: the outcome is the slot's, and so is the end.</summary>
    /// <param name="slot">Where the segment goes.</param>
    /// <param name="lane">Why it is fetched.</param>
    /// <param name="cancellationToken">The slot does not want it any more; others may.</param>
    public void Begin(SegmentSlot slot, OperationLane lane, CancellationToken cancellationToken)
    {
        try
        {
            var ids = slot.Piece.File.Ids.GetAsync(slot.Piece.Segment.Index, cancellationToken);
            if (ids.IsCompletedSuccessfully && disk?.Covers(slot.Piece) != true)
                shared.Bring(KeyOf(slot, ids.Result), slot, lane, cancellationToken);
            else
                slot.Preparation = PrepareAsync(ids, slot, lane, cancellationToken);
        }
        catch (Exception failure)
        {
            Fail(slot, failure);
        }
    }

    private static SegmentKey KeyOf(SegmentSlot slot, SegmentIds ids) => ids.Primary.IsEmpty
        ? throw new ArticleGoneException(ArticleLoss.NeverPosted, slot.Piece.Segment.Index)
        : new SegmentKey(ids, slot.Piece.Segment);

    /// <summary>Where something has to be read before it is known what to ask for, or whether to ask.</summary>
    private async Task PrepareAsync(ValueTask<SegmentIds> ids, SegmentSlot slot, OperationLane lane, CancellationToken cancellationToken)
    {
        try
        {
            var key = KeyOf(slot, await ids);
            if (disk?.Covers(slot.Piece) == true && await FindOnDiskAsync(key, slot, cancellationToken))
                slot.EndFetch();
            else
                shared.Bring(key, slot, lane, cancellationToken);
        }
        catch (Exception failure)
        {
            Fail(slot, failure);
        }
    }

    private void Fail(SegmentSlot slot, Exception failure)
    {
        if (failure is not (IOException or OperationCanceledException or ObjectDisposedException))
        {
            // A defect of ours must not leave a reader waiting for ever.
            StreamsLog.FetchBroke(logger, failure);
            failure = new IOException("The article could not be read.", failure);
        }

        slot.Fail(failure);
        slot.EndFetch();
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
