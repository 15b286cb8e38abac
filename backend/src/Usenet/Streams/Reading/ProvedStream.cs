using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// A file some of whose slices were predicted: each is proved together with the first read of it, and no byte of it leaves before it is.
/// </summary>
/// <remarks>For one reader at a time. A slice is proved ahead where a reader goes on towards it, so that it does not wait at every border.</remarks>
internal sealed class ProvedStream : ReadOnlyStream
{
    // A reader that has taken so much in a row is no probe, and will come to the next slice.
    private const long TakenBeforeAhead = 1 << 20;

    private readonly ReadOnlyStream _inner;
    private readonly IReadOnlyList<FileExtent> _extents;
    private readonly long[] _ends;
    private readonly long _end;
    private readonly CancellationTokenSource _closing = new();
    private Task _ahead = Task.CompletedTask;
    private int _aheadOf = -1;
    private long _landed;

    /// <param name="inner">The slices as one file; owned.</param>
    /// <param name="extents">The slices.</param>
    /// <param name="end">Offset behind the last byte that will be asked for.</param>
    public ProvedStream(ReadOnlyStream inner, IReadOnlyList<FileExtent> extents, long end)
    {
        (_inner, _extents, _end, _landed) = (inner, extents, end, inner.Position);
        _ends = new long[extents.Count];
        var length = 0L;
        for (var i = 0; i < extents.Count; i++)
            _ends[i] = length += extents[i].Length;
    }

    /// <inheritdoc/>
    public override long Length => _inner.Length;

    /// <inheritdoc/>
    public override long Position
    {
        get => _inner.Position;
        set
        {
            if (value != _inner.Position)
                _landed = value;
            _inner.Position = value;
        }
    }

    /// <inheritdoc/>
    /// <exception cref="RefutedExtentException">The slice does not lie where it was predicted.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        FirstUnproved() is not ({ } slice, var proved)
            ? _inner.ReadAsync(buffer, cancellationToken)
            : proved > 0
                ? _inner.ReadAsync(buffer[..(int)Math.Min(proved, buffer.Length)], cancellationToken)
                : ProveAsync(slice, count => _inner.ReadAsync(buffer[..count], cancellationToken), buffer.Length, cancellationToken);

    /// <inheritdoc/>
    /// <exception cref="RefutedExtentException">The slice does not lie where it was predicted.</exception>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken) =>
        FirstUnproved() is not ({ } slice, var proved)
            ? _inner.LendAsync(loan, most, cancellationToken)
            : proved > 0
                ? _inner.LendAsync(loan, (int)Math.Min(proved, most), cancellationToken)
                : ProveAsync(slice, count => _inner.LendAsync(loan, count, cancellationToken), most, cancellationToken);

    /// <inheritdoc/>
    public override void HintSeek(long position) => _inner.HintSeek(position);

    /// <inheritdoc/>
    protected override async ValueTask CloseAsync()
    {
        await _closing.CancelAsync();
        try
        {
            await _inner.DisposeAsync();
        }
        finally
        {
            await _ahead;
            _closing.Dispose();
        }
    }

    /// <summary>The first slice, from the position on, that is not proved yet, and how many bytes lie before it; null where all are.</summary>
    private (int Slice, long Proved)? FirstUnproved()
    {
        var position = Position;
        for (var slice = FirstBehind(position); slice < _extents.Count && BeginOf(slice) < _end; slice++)
        {
            if (_extents[slice].Proof is not { IsProved: false })
                continue;
            var proved = Math.Max(0, BeginOf(slice) - position);
            if (proved > 0 && position - _landed >= TakenBeforeAhead)
                ProveAhead(slice);
            return (slice, proved);
        }

        return null;
    }

    // The slice that holds a byte.
    private int FirstBehind(long position)
    {
        var found = Array.BinarySearch(_ends, position + 1);
        return found < 0 ? ~found : found;
    }

    private long BeginOf(int slice) => _ends[slice] - _extents[slice].Length;

    /// <summary>Reads and proves at once. What was read is given out only where the proof holds.</summary>
    private async ValueTask<int> ProveAsync(int slice, Func<int, ValueTask<int>> readAsync, int most, CancellationToken cancellationToken)
    {
        var position = Position;
        var proving = _extents[slice].Proof!.ProveAsync(cancellationToken).AsTask();
        var reading = readAsync((int)Math.Min(most, _ends[slice] - position)).AsTask();
        try
        {
            await Task.WhenAll(proving, reading);
        }
        catch
        {
            _inner.Position = position;
            throw;
        }

        return await reading;
    }

    private void ProveAhead(int slice)
    {
        if (_aheadOf == slice || !_ahead.IsCompleted)
            return;
        _aheadOf = slice;
        _ahead = TryProveAsync(_extents[slice].Proof!);
    }

    private async Task TryProveAsync(IExtentProof proof)
    {
        try
        {
            await proof.ProveAsync(_closing.Token);
        }
        catch (Exception failure) when (failure is IOException or OperationCanceledException)
        {
            // The read that comes to the slice asks again, and is told.
        }
    }
}
