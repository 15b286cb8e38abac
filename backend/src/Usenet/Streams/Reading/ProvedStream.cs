using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// A file some of whose slices were predicted: each is proved together with the first read of it, and no byte of it leaves before it is.
/// </summary>
/// <remarks>
/// For one reader at a time. A slice whose beginning is on its way ahead of the reader is proved out of that, so that the reader waits at no
/// border and nothing is fetched for the proof.
/// </remarks>
internal sealed class ProvedStream : ReadOnlyStream
{
    private readonly CombinedStream _inner;
    private readonly IReadOnlyList<FileExtent> _extents;
    private readonly long[] _ends;
    private readonly long _end;
    private readonly CancellationTokenSource _closing = new();
    private readonly List<Task> _ahead = [];
    private Action? _headArrived;

    // Slices before it have been begun with, since the reader has moved last.
    private int _aheadTo;

    /// <param name="inner">The slices as one file; owned.</param>
    /// <param name="extents">The slices.</param>
    /// <param name="end">Offset behind the last byte that will be asked for.</param>
    public ProvedStream(CombinedStream inner, IReadOnlyList<FileExtent> extents, long end)
    {
        (_inner, _end) = (inner, end);
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
                _aheadTo = 0;
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
    public override StreamSnapshot? Look() => _inner.Look();

    /// <inheritdoc/>
    public override void WatchProof(Action headArrived) => _headArrived = headArrived;

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
            await Task.WhenAll(_ahead);
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
        ProveAhead(slice + 1);
        return (IsProved(slice) ? null : slice, position, (int)Math.Min(wanted, _ends[slice] - position));
    }

    private bool IsProved(int slice) => _extents[slice].Proof is not { IsProved: false };

    /// <summary>Reads and proves at once. What was read is given out only where the proof holds.</summary>
    private async ValueTask<int> ProveAsync(int slice, long position, ValueTask<int> reading, CancellationToken cancellationToken)
    {
        var read = reading.AsTask();
        try
        {
            await Task.WhenAll(_extents[slice].Proof!.ProveAsync(HeadsAt(slice, position), _headArrived, cancellationToken).AsTask(), read);
        }
        catch
        {
            _inner.Position = position;
            throw;
        }

        return await read;
    }

    /// <summary>The reader's own loads, where the segment at a position is the one that its posted file begins with.</summary>
    private CombinedStream? HeadsAt(int slice, long position)
    {
        var (extent, begin) = (_extents[slice], _ends[slice] - _extents[slice].Length);
        return _inner.SharesSegments && extent.Offset + position - begin < extent.File.Map[0].Length ? _inner : null;
    }

    /// <summary>Begins to look into the slices whose beginnings are on their way.</summary>
    private void ProveAhead(int first)
    {
        if (!_inner.SharesSegments || Math.Max(_aheadTo, first) is var next && next >= _extents.Count)
            return;
        _ahead.RemoveAll(static task => task.IsCompleted);
        for (var end = _inner.AheadEnd; next < _extents.Count && _ends[next - 1] < end; next++)
        {
            if (!IsProved(next))
                _ahead.Add(TryProveAsync(_extents[next].Proof!));
        }

        _aheadTo = next;
    }

    private async Task TryProveAsync(IExtentProof proof)
    {
        try
        {
            await proof.ProveOwnAsync(_inner, _closing.Token);
        }
        catch (Exception failure) when (failure is IOException or OperationCanceledException)
        {
            // The read that comes to the slice asks again, and is told.
        }
    }
}
