using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Takes the beginning of a posted file out of its first segment, which a window loads for its reader at the same time.</summary>
/// <remarks>The loading on one side, the one caller of <see cref="TakeAsync"/> on the other.</remarks>
/// <param name="file">The posted file.</param>
/// <param name="reader">On whose behalf.</param>
/// <param name="most">Bytes that are wanted at most.</param>
internal sealed class HeadWaiter(PostedFile file, object reader, int most)
    : SegmentWaiter(new Piece(file, file.Map[0], 0, 0, file.Map[0].Length), new FetchUrgency(reader, isHeadOfLine: false), isEarly: false)
{
    private readonly TaskCompletionSource<PostedHead?> _head = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <inheritdoc/>
    /// <remarks>Its posted file is one of many, and where that lies in the file is not said.</remarks>
    public override Stretch Place => default;

    /// <summary>Waits for the beginning.</summary>
    /// <returns>Null where the segment cannot be had.</returns>
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

    /// <inheritdoc/>
    public override Task Lend(SegmentBuffer blocks)
    {
        var isEnough = blocks.HeldEnd(0) >= Math.Min(most, Piece.Length);
        if (isEnough)
            Keep(blocks);
        blocks.Release();
        return isEnough ? Task.FromCanceled(new CancellationToken(canceled: true)) : Task.CompletedTask;
    }

    /// <inheritdoc/>
    public override void Publish(SegmentBuffer buffer, int available)
    {
    }

    /// <inheritdoc/>
    public override void Withdraw()
    {
    }

    /// <inheritdoc/>
    public override void Complete(SegmentBuffer proved)
    {
        Keep(proved);
        proved.Release();
    }

    /// <inheritdoc/>
    public override void Fail(Exception failure) => _head.TrySetResult(null);

    /// <inheritdoc/>
    protected override void Ended() => _head.TrySetResult(null);

    private void Keep(SegmentBuffer proved)
    {
        var bytes = new byte[Math.Min(most, Piece.Length)];
        proved.CopyTo(0, bytes);
        _head.TrySetResult(new PostedHead(bytes, proved.ClaimedLength));
    }
}
