using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// The bytes that a reader got from one segment before its article was verified. The end of the load settles this debt, even if the slot is gone. The debt is
/// cleared if the verified article has the same bytes, and fails otherwise.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> serializes the reader and the ending load, and guards all fields. While it is held, the locks of <see cref="StreamDebts"/> and of
/// the buffer memory may be acquired.
/// </remarks>
internal sealed class SegmentDebt(StreamDebts stream, int segment)
{
    private readonly Lock _gate = new();

    // The reader got the bytes between these offsets of the segment; none while _to is 0.
    private int _from = int.MaxValue;
    private int _to;

    // The buffer with these bytes, with one reference. Once the try that filled the buffer fails, only the checksum is kept.
    private SegmentBuffer? _source;
    private uint _checksum;
    private bool _isWithdrawn;
    private bool _isSettled;

    // Detaches a released slot from its load. The slot stays with the load until then, because the load settles this debt.
    private Action? _leave;

    /// <summary>Called by the reader before it copies the bytes between two offsets, which must be verified later.</summary>
    /// <returns>False if no more bytes may be read before the load ends, the load has ended, or the stream is closed.</returns>
    public bool TryOwe(SegmentBuffer source, int from, int to)
    {
        lock (_gate)
        {
            if (_isWithdrawn || _isSettled)
                return false;
            if (_source is null)
            {
                if (!stream.TryOpen(this))
                    return false;
                source.Retain();
                _source = source;
            }

            _from = Math.Min(_from, from);
            _to = Math.Max(_to, to);
            return true;
        }
    }

    /// <summary>Called when the reader releases the slot. A slot with unverified bytes stays in its load until verification or the stream's end.</summary>
    public bool TryKeep(Action leave)
    {
        lock (_gate)
        {
            if (_isSettled || _to == 0)
                return false;
            _leave = leave;
            return true;
        }
    }

    /// <summary>Called by the load when the try that delivered the bytes has failed. Another try may still deliver the same bytes.</summary>
    public void Withdraw()
    {
        lock (_gate)
        {
            if (_isSettled || _isWithdrawn)
                return;
            _isWithdrawn = true;
            if (_source is not null)
                _checksum = _source.ChecksumOf(_from, _to);
            ReleaseSource();
        }
    }

    /// <summary>Called by the load when the article is verified.</summary>
    public void Settle(SegmentBuffer proved)
    {
        lock (_gate)
        {
            if (_isSettled)
                return;
            var isPaid = _to == 0 || ReferenceEquals(_source, proved)
                || (_source?.ChecksumOf(_from, _to) ?? _checksum) == proved.ChecksumOf(_from, _to);
            End(isPaid ? null : new WithdrawnBytesException(segment));
        }
    }

    /// <summary>Called by the load when it has ended. Bytes still unverified can no longer be verified.</summary>
    public void FailIfOwed(Exception? failure)
    {
        lock (_gate)
        {
            if (!_isSettled)
                End(_to == 0 ? null : new WithdrawnBytesException(segment, failure));
        }
    }

    /// <summary>Called by the stream when it closes, so that no more bytes have to be verified.</summary>
    /// <returns>A callback that detaches the slot that stayed in its load only for this debt. Call it without a lock. Null if there is no such slot.</returns>
    public Action? Cancel()
    {
        lock (_gate)
        {
            if (_isSettled)
                return null;
            _isSettled = true;
            ReleaseSource();
            return _leave;
        }
    }

    public void ThrowIfBad() => stream.ThrowIfBad();

    private void End(WithdrawnBytesException? failure)
    {
        _isSettled = true;
        ReleaseSource();
        if (_to > 0)
            stream.Close(this, failure);
        _leave = null;
    }

    private void ReleaseSource()
    {
        _source?.Release();
        _source = null;
    }
}
