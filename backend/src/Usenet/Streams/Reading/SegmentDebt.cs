using Sluice.Usenet.Streams.Loading;
using Sluice.Usenet.Streams.Memory;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>
/// The bytes that a reader has taken of one segment before its article was proved. The end of the load settles the debt, whatever has
/// become of the slot by then: well if the proved article has the same bytes, badly if it has others or there is none.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> orders the reader that takes and the load that ends, and guards all fields. Below it the locks of
/// <see cref="StreamDebts"/> and of the memory that buffers go back to may be taken.
/// </remarks>
/// <param name="stream">The debts of its stream.</param>
/// <param name="segment">0-based index of the segment in its posted file.</param>
internal sealed class SegmentDebt(StreamDebts stream, int segment)
{
    private readonly Lock _gate = new();

    // The bytes between these offsets of the segment were taken; none as long as the end is 0.
    private int _from = int.MaxValue;
    private int _to;

    // The buffer that they were taken from, with a count; once the try that filled it has broken off, their checksum is enough.
    private SegmentBuffer? _source;
    private uint _checksum;
    private bool _isWithdrawn;
    private bool _isSettled;

    // A slot that was released, and stays with its load because the load settles this debt.
    private SegmentWaiter? _kept;

    /// <summary>By the reader, before it copies: the bytes between two offsets are owed from now on.</summary>
    /// <returns>False when no more may be taken before the load ends, or the load has ended, or the stream is closed.</returns>
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

    /// <summary>By the reader, which releases the slot: the load goes on if anything is owed.</summary>
    /// <param name="slot">Stays with its load until the debt is settled or the stream is closed, where this returns true.</param>
    public bool TryKeep(SegmentWaiter slot)
    {
        lock (_gate)
        {
            if (_isSettled || _to == 0)
                return false;
            _kept = slot;
            return true;
        }
    }

    /// <summary>By the load: the try that the bytes were taken from has broken off. Another one may still bring the same.</summary>
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

    /// <summary>By the load: the article is proved.</summary>
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

    /// <summary>By the load, which has ended: bytes that are owed still are not proved any more.</summary>
    public void EndUnpaid(Exception? failure)
    {
        lock (_gate)
        {
            if (!_isSettled)
                End(_to == 0 ? null : new WithdrawnBytesException(segment, failure));
        }
    }

    /// <summary>By the stream: it is closed, nothing is owed any more.</summary>
    /// <returns>The slot that stayed with its load for this debt alone and has to leave now; null where none did.</returns>
    public SegmentWaiter? Cancel()
    {
        lock (_gate)
        {
            if (_isSettled)
                return null;
            _isSettled = true;
            ReleaseSource();
            return _kept;
        }
    }

    /// <summary>Throws what any debt of the stream has failed with.</summary>
    public void ThrowIfBad() => stream.ThrowIfBad();

    private void End(WithdrawnBytesException? failure)
    {
        _isSettled = true;
        ReleaseSource();
        if (_to > 0)
            stream.Close(this, failure);
        _kept = null;
    }

    private void ReleaseSource()
    {
        _source?.Release();
        _source = null;
    }
}
