using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>A file with predicted slices. Each slice's offset is verified in parallel with its first read, and its bytes are served only afterwards.</summary>
/// <remarks>For one reader at a time. A proof uses the beginning of a slice already in transit, so that it fetches nothing and delays no reader.</remarks>
internal sealed class ProvedStream : ReadOnlyStream
{
    private readonly ReadOnlyStream _inner;
    private readonly IPostedHeads? _heads;
    private readonly IReadOnlyList<FileExtent> _extents;
    private readonly long[] _ends;
    private readonly long _end;
    private readonly CancellationTokenSource _closing = new();
    private readonly List<Task> _ahead = [];
    private Action? _headArrived;

    // Since the reader last moved, the proofs of all slices before this index have been started.
    private int _aheadTo;

    /// <param name="heads">The segments that the inner stream loads; null if a proof cannot share those loads.</param>
    public ProvedStream(ReadOnlyStream inner, IPostedHeads? heads, IReadOnlyList<FileExtent> extents, long end)
    {
        (_inner, _heads, _end) = (inner, heads, end);
        _extents = [.. extents.Where(extent => extent.Length > 0)];
        _ends = new long[_extents.Count];
        var length = 0L;
        for (var i = 0; i < _ends.Length; i++)
            _ends[i] = length += _extents[i].Length;
    }

    public override long Length => _inner.Length;

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

    /// <exception cref="RefutedExtentException">The slice does not lie at its predicted offset.</exception>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        var (slice, position, most) = Next(buffer.Length);
        return slice is { } unproved
            ? ProveAsync(unproved, position, _inner.ReadAsync(buffer[..most], cancellationToken), cancellationToken)
            : _inner.ReadAsync(buffer[..most], cancellationToken);
    }

    /// <inheritdoc cref="ReadAsync(Memory{byte}, CancellationToken)"/>
    public override ValueTask<int> LendAsync(BlockLoan loan, int most, CancellationToken cancellationToken)
    {
        (var slice, var position, most) = Next(most);
        return slice is { } unproved
            ? ProveAsync(unproved, position, _inner.LendAsync(loan, most, cancellationToken), cancellationToken)
            : _inner.LendAsync(loan, most, cancellationToken);
    }

    public override void HintSeek(long position) => _inner.HintSeek(position);

    public override StreamSnapshot? Snapshot() => _inner.Snapshot();

    public override void WatchProof(Action headArrived) => _headArrived = headArrived;

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

    /// <summary>Limits the next read to one slice.</summary>
    /// <returns>The slice if it must be verified first, otherwise null; the position; and the maximum bytes to read.</returns>
    private (int? Unproved, long Position, int Most) Next(int wanted)
    {
        var position = _inner.Position;
        if (position >= _end)
            return (null, position, wanted);

        // The byte at the position lies in the first slice that ends after it.
        var found = Array.BinarySearch(_ends, position + 1);
        var slice = found < 0 ? ~found : found;
        ProveAhead(slice + 1);
        return (IsProved(slice) ? null : slice, position, (int)Math.Min(wanted, _ends[slice] - position));
    }

    private bool IsProved(int slice) => _extents[slice].Proof is not { IsProved: false };

    /// <summary>Reads a slice and verifies its offset in parallel. Returns the bytes only if the proof succeeds.</summary>
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

    /// <summary>Returns the reader's own loads if the segment at a position is the first of its posted file; otherwise null.</summary>
    private IPostedHeads? HeadsAt(int slice, long position)
    {
        var (extent, begin) = (_extents[slice], _ends[slice] - _extents[slice].Length);
        return extent.Offset + position - begin < extent.File.Map[0].Length ? _heads : null;
    }

    /// <summary>Starts the proofs of slices whose beginnings are in transit.</summary>
    private void ProveAhead(int first)
    {
        if (_heads is null || Math.Max(_aheadTo, first) is var next && next >= _extents.Count)
            return;
        _ahead.RemoveAll(static task => task.IsCompleted);
        for (var end = _heads.AheadEnd; next < _extents.Count && _ends[next - 1] < end; next++)
        {
            if (!IsProved(next))
                _ahead.Add(TryProveAsync(_extents[next].Proof!, _heads));
        }

        _aheadTo = next;
    }

    private async Task TryProveAsync(IExtentProof proof, IPostedHeads heads)
    {
        try
        {
            await proof.ProveOwnAsync(heads, _closing.Token);
        }
        catch (Exception failure) when (failure is IOException or OperationCanceledException)
        {
            // The read that reaches the slice checks the proof again and reports the failure.
        }
    }
}
