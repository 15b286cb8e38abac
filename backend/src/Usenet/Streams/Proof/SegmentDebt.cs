using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Proof;

/// <summary>
/// The bytes that a reader took from one segment before its article was proved. The end of the load settles the debt, even if the slot is gone. It succeeds if
/// the proved article has the same bytes, and fails otherwise.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> serializes the reader and the ending load, and guards all fields. Under it the locks of <see cref="StreamDebts"/> and of the
/// memory that buffers return to may be taken.
/// </remarks>
internal sealed class SegmentDebt(StreamDebts stream, int segment)
{
    private readonly Lock _gate = new();

    // The bytes between these offsets of the segment were taken; none while _to is 0.
    private int _from = int.MaxValue;
    private int _to;

    // The buffer of these bytes, with one reference. Once the try that filled it has failed, their checksum is enough.
    private SegmentBuffer? _source;
    private uint _checksum;
    private bool _isWithdrawn;
    private bool _isSettled;

    // Removes a released slot from its load. The slot stays with the load until then, because the load settles this debt.
    private Action? _leave;

    /// <summary>Called by the reader before it copies: the bytes between two offsets are owed from now on.</summary>
    /// <returns>False if no more may be taken before the load ends, the load has ended, or the stream is closed.</returns>
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

    /// <summary>Called by the reader when it releases the slot. A slot that owes bytes stays with its load until they settle or the stream closes.</summary>
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

    /// <summary>Called by the load when the article is proved.</summary>
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

    /// <summary>Called by the load when it has ended: bytes still owed can no longer be proved.</summary>
    public void FailIfOwed(Exception? failure)
    {
        lock (_gate)
        {
            if (!_isSettled)
                End(_to == 0 ? null : new WithdrawnBytesException(segment, failure));
        }
    }

    /// <summary>Called by the stream when it closes, so that nothing more is owed.</summary>
    /// <returns>Removes from its load a slot that stayed only for this debt; call it without a lock. Null if there is none.</returns>
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
