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
        (_inner, _end, _landed) = (inner, end, inner.Position);
        _extents = [.. extents.Where(extent => extent.Length > 0)];
        _ends = new long[_extents.Count];
        var length = 0L;
        for (var i = 0; i < _ends.Length; i++)
            _ends[i] = length += _extents[i].Length;
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
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var (slice, position, most) = Next(buffer.Length);
        return slice is { } unproved
            ? ProveAsync(unproved, position, _inner.ReadAsync(buffer[..most], cancellationToken), cancellationToken)
            : _inner.ReadAsync(buffer[..most], cancellationToken);
    }

    /// <inheritdoc/>
    /// <exception cref="RefutedExtentException">The slice does not lie where it was predicted.</exception>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        (var slice, var position, most) = Next(most);
        return slice is { } unproved
            ? ProveAsync(unproved, position, _inner.LendAsync(loan, most, cancellationToken), cancellationToken)
            : _inner.LendAsync(loan, most, cancellationToken);
    }

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

    /// <summary>What the next read takes: bytes of one slice.</summary>
    /// <returns>The slice, where it has to be proved first, else null; the position; and how many bytes may be taken.</returns>
    private (int? Unproved, long Position, int Most) Next(int wanted)
    {
        var position = _inner.Position;
        if (position >= _end)
            return (null, position, wanted);

        // The slice that holds the byte at the position: the first one that ends behind it.
        var found = Array.BinarySearch(_ends, position + 1);
        var slice = found < 0 ? ~found : found;
        var next = slice + 1;
        if (next < _extents.Count && _ends[slice] < _end && position - _landed >= TakenBeforeAhead && !IsProved(next))
            ProveAhead(next);
        return (IsProved(slice) ? null : slice, position, (int)Math.Min(wanted, _ends[slice] - position));
    }

    private bool IsProved(int slice) => _extents[slice].Proof is not { IsProved: false };

    /// <summary>Reads and proves at once. What was read is given out only where the proof holds.</summary>
    private async ValueTask<int> ProveAsync(int slice, long position, ValueTask<int> reading, CancellationToken cancellationToken)
    {
        var read = reading.AsTask();
        try
        {
            await Task.WhenAll(_extents[slice].Proof!.ProveAsync(cancellationToken).AsTask(), read);
        }
        catch
        {
            _inner.Position = position;
            throw;
        }

        return await read;
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
