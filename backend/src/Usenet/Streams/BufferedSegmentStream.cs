using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// Reads a combined file forward from one position to an end, holding segments ahead in a window. A seek elsewhere is a new one.
/// </summary>
/// <remarks>
/// For one reader. The reader and the idle timer are ordered by a lock that is free but for that; fetches never take it.
/// </remarks>
internal sealed class BufferedSegmentStream : IAsyncDisposable
{
    private const int KeptWhenIdle = 2;

    private readonly Lock _gate = new();
    private readonly CombinedMap _map;
    private readonly StreamResources _shared;
    private readonly OperationLane _lane;
    private readonly ReadAheadPolicy _policy;
    private readonly CancellationTokenSource _cancel = new();
    private readonly ITimer _idleTimer;
    private readonly long _end;
    private readonly int _lastNumber;
    private readonly SegmentWindow _window;
    private long _lastRead;
    private bool _landing = true;

    // Written by the reader outside of the lock as well; a stale value only puts a trim off.
    private volatile bool _waiting;

    public BufferedSegmentStream(CombinedMap map, StreamResources shared, OperationLane lane, long position, long end)
    {
        _map = map;
        _shared = shared;
        _lane = lane;
        _end = end;
        Position = position;
        _policy = new ReadAheadPolicy(shared.Options, shared.Time);
        _window = new SegmentWindow(map.Locate(position));
        _lastNumber = map.Locate(end - 1);
        _lastRead = shared.Time.GetTimestamp();
        _idleTimer = shared.Time.CreateTimer(static state => ((BufferedSegmentStream)state!).TrimIfIdle(), this, shared.Options.IdleTrim, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Offset in the combined file of the next byte.</summary>
    public long Position { get; private set; }

    /// <summary>Reads on; 0 at the end only.</summary>
    /// <exception cref="IOException">The bytes at the position cannot be had.</exception>
    public async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken)
    {
        while (true)
        {
            lock (_gate)
            {
                _lastRead = _shared.Time.GetTimestamp();
                var taken = TakeAvailable(buffer.Span);
                if (taken > 0 || Position == _end || buffer.IsEmpty)
                    return taken;
                _waiting = true;
            }

            try
            {
                await _window.WaitAsync(cancellationToken);
            }
            finally
            {
                _waiting = false;
            }
        }
    }

    /// <summary>Goes to a position that is held, without losing what is held behind it.</summary>
    /// <returns>False when the target is not held; a new reader starts there.</returns>
    public bool TryMoveTo(long position)
    {
        lock (_gate)
        {
            if (position >= _end)
                return false;
            var number = _map.Locate(position);
            if (number < _window.HeadNumber || number >= _window.NextNumber)
                return false;
            while (_window.HeadNumber < number)
                ReleaseHead();
            Position = position;
            return true;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _idleTimer.DisposeAsync();
        await _cancel.CancelAsync();
        Task closing;
        lock (_gate)
            closing = _window.CloseAsync();
        await closing;
        _cancel.Dispose();
    }

    /// <summary>Copies what is there, over as many segments as the buffer takes, and keeps the window full.</summary>
    private int TakeAvailable(Span<byte> buffer)
    {
        var total = 0;
        FillWindow();
        while (total < buffer.Length && Position < _end)
        {
            var slot = _window.Head;
            var taken = Take(slot, buffer[total..], isFirst: total == 0);
            if (taken == 0 && slot.Piece.Length > 0)
            {
                if (total == 0)
                    taken = TakeOrWait(slot, buffer);
                if (taken == 0)
                    break;
            }

            total += taken;
            Position += taken;
            var ends = Position == slot.Piece.End;
            _policy.Delivered(taken, _window.HeadNumber, ends);
            if (ends)
                ReleaseHead();
            FillWindow();
        }

        return total;
    }

    private int TakeOrWait(SegmentSlot slot, Span<byte> buffer)
    {
        if (!slot.IsLanding)
            _policy.Waited(_window.HeadNumber);
        FillWindow();
        _window.Await(slot);
        // News that came before the slot was named has woken nobody.
        return Take(slot, buffer, isFirst: true);
    }

    private int Take(SegmentSlot slot, Span<byte> buffer, bool isFirst)
    {
        var piece = slot.Piece;
        var offset = piece.SliceBegin + (int)(Position - piece.Begin);
        var stop = piece.SliceBegin + (int)(Math.Min(piece.End, _end) - piece.Begin);
        return slot.Take(offset, stop, _shared.Options.WithheldBytes, buffer.Length > stop - offset ? buffer[..(stop - offset)] : buffer, isFirst);
    }

    private void ReleaseHead()
    {
        _window.ReleaseHead();
        _landing = false;
    }

    private void FillWindow()
    {
        while (_window.NextNumber <= _lastNumber)
        {
            var piece = _map[_window.NextNumber];
            if (_window.Count > 0 && _window.Count >= _policy.Target(piece.Segment.Length, _shared.Budget.Share))
                return;
            var headOfLine = _window.Count == 0;
            var slot = _window.Claim(piece, isLanding: headOfLine && _landing);
            slot.Fetch = _shared.Fetcher.FetchAsync(slot, _lane, new FetchUrgency(this, headOfLine), _cancel.Token);
        }
    }

    /// <summary>A paused player keeps little: its connections and memory are for those who read.</summary>
    private void TrimIfIdle()
    {
        lock (_gate)
        {
            var idle = _shared.Time.GetElapsedTime(_lastRead);
            TimeSpan next;
            if (_waiting || idle < _shared.Options.IdleTrim)
            {
                next = _waiting ? _shared.Options.IdleTrim : _shared.Options.IdleTrim - idle;
            }
            else if (idle < _shared.Options.IdleDrop)
            {
                _window.Trim(KeptWhenIdle);
                _policy.Reset(KeptWhenIdle);
                next = _shared.Options.IdleDrop - idle;
            }
            else
            {
                _window.Trim(0);
                _policy.Reset(1);
                _landing = true;
                next = _shared.Options.IdleTrim;
            }

            _idleTimer.Change(next, Timeout.InfiniteTimeSpan);
        }
    }
}
