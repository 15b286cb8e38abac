using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Reads the beginning of a posted file from its first segment, which a window loads for its reader at the same time.</summary>
/// <remarks>Called by the load, and by the only caller of <see cref="TakeAsync"/>.</remarks>
internal sealed class HeadWaiter(PostedFile file, object reader, int most)
    : SegmentWaiter(new Piece(file, file.Map[0], 0, 0, file.Map[0].Length), new FetchUrgency(reader, isHeadOfLine: false), isEarly: false)
{
    private readonly TaskCompletionSource<PostedHead?> _head = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Unknown, because the waiter does not know where its posted file lies in the whole file.</summary>
    public override Stretch Place => default;

    /// <returns>The beginning; null if the segment is unavailable.</returns>
    public async Task<PostedHead?> TakeAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await _head.Task.WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            Leave();
            throw;
        }
    }

    public override Task Lend(SegmentBuffer blocks)
    {
        var isEnough = blocks.HeldEnd(0) >= Math.Min(most, Piece.Length);
        if (isEnough)
            Keep(blocks);
        blocks.Release();
        return isEnough ? Task.FromCanceled(new CancellationToken(canceled: true)) : Task.CompletedTask;
    }

    public override void Publish(SegmentBuffer buffer, int available)
    {
    }

    public override void Withdraw()
    {
    }

    public override void Complete(SegmentBuffer proved)
    {
        Keep(proved);
        proved.Release();
    }

    public override void Fail(Exception failure) => _head.TrySetResult(null);

    protected override void Ended() => _head.TrySetResult(null);

    private void Keep(SegmentBuffer proved)
    {
        var bytes = new byte[Math.Min(most, Piece.Length)];
        proved.CopyTo(0, bytes);
        _head.TrySetResult(new PostedHead(bytes, proved.ClaimedLength));
    }
}
