using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>One stream's part of the byte budget.</summary>
/// <remarks>Thread-safe. Disposed when nothing is charged any more.</remarks>
internal sealed class BudgetShare(ByteBudget budget, OperationLane lane, SegmentFetcher? fetcher, Action giveBack) : IDisposable
{
    /// <summary>Bytes charged. Guarded by the budget.</summary>
    public long Held { get; set; }

    /// <summary>What the stream reads by way of.</summary>
    public SegmentFetcher? Fetcher => fetcher;

    /// <summary>Whether nobody watches what is read.</summary>
    public bool IsBackground => lane != OperationLane.Playback;

    /// <summary>Bytes that the stream may hold now.</summary>
    public long Limit => budget.Limit(this);

    /// <summary>What a segment costs: the blocks that hold it.</summary>
    public static long CostOf(int segmentBytes) => Math.Max(1, (segmentBytes + BlockPool.BlockSize - 1L) / BlockPool.BlockSize) * BlockPool.BlockSize;

    /// <summary>Charges what is to be fetched ahead.</summary>
    /// <returns>False when it must not be fetched now.</returns>
    public bool TryCharge(long bytes) => budget.TryCharge(this, bytes);

    /// <summary>Charges what the reader waits for.</summary>
    public void Charge(long bytes) => budget.Charge(this, bytes);

    /// <summary>Gives back what was charged.</summary>
    public void Return(long bytes) => budget.Return(this, bytes);

    /// <summary>By the budget: there is more charged than the limit is now.</summary>
    public void GiveBack() => giveBack();

    /// <inheritdoc/>
    public void Dispose() => budget.Leave(this);
}
