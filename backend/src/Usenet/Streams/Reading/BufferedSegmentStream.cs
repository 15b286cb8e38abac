using System.Runtime.CompilerServices;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Reading;

/// <summary>Reads a combined file forward from a position to an end, with a window of segments ahead. A seek outside the window needs a new instance.</summary>
/// <remarks>
/// For one reader. <c>_gate</c> guards the window and the policy. It serializes the reader, the idle timer, and other streams that need memory or the place.
/// Loads never acquire it. Starting a load under <c>_gate</c> acquires the locks of the loads and the connections.
/// </remarks>
internal sealed class BufferedSegmentStream : IAsyncDisposable
{
    private const int KeptWhenIdle = 2;

    // Two handshakes at a time open four connections before the first segment of a cold open arrives: two articles each, with that segment.
    private const int LikelyToFollow = 7;

    private readonly Lock _gate = new();
    private readonly CombinedMap _map;
    private readonly StreamResources _shared;
    private readonly OperationLane _lane;
    private readonly object _reader;
    private readonly BudgetShare _share;
    private readonly StreamDebts _debts;
    private readonly ReadAheadPolicy _policy;
    private readonly ITimer _idleTimer;
    private readonly long _end;
    private readonly int _lastNumber;
    private readonly SegmentWindow _window;
    private long _lastRead;

    // End of the range that the reader is certain to read. It is requested at once, because a segment border would cost a round trip.
    private long _reach;
    private int _waitedFor = -1;
    private bool _landing = true;
    private bool _closed;

    // The window was released during a pause, so bytes served early must be verified before the next byte is served.
    private bool _resumes;

    // Also written by the reader outside the lock; a stale value only delays a trim.
    private volatile bool _waiting;

    /// <summary>Creates a reader of the bytes from <paramref name="position"/> to <paramref name="end"/>, exclusive. Share and debts are not owned.</summary>
    public BufferedSegmentStream(
        CombinedMap map, StreamResources shared, OperationLane lane, object reader, BudgetShare share, StreamDebts debts, long position, long end)
    {
        _map = map;
        _shared = shared;
        _lane = lane;
        _reader = reader;
        _share = share;
        _debts = debts;
        _end = end;
        Position = position;
        _reach = end - position <= shared.Options.ProbeBytes ? end : position + shared.Options.LandingReach;
        _policy = new ReadAheadPolicy(shared.Options, shared.Line, shared.Time);
        _window = new SegmentWindow(map.Locate(position), share, lane == OperationLane.Playback ? debts : null);
        _lastNumber = map.Locate(end - 1);
        _lastRead = shared.Time.GetTimestamp();
        _idleTimer = shared.Time.CreateTimer(static state => ((BufferedSegmentStream)state!).TrimIfIdle(), this, shared.Options.IdleTrim, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Offset of the next byte in the combined file.</summary>
    public long Position { get; private set; }

    /// <summary>End offset, in the combined file, of the last segment held or in transit.</summary>
    public long AheadEnd
    {
        get
        {
            lock (_gate)
                return _window.NextNumber > _lastNumber ? _end : _map[_window.NextNumber].Begin;
        }
    }

    /// <summary>
    /// Returns a snapshot for progress displays. Query the slots outside the lock, because their fetches have locks of their own. <c>IsCrowded</c> is true if
    /// other streams keep this one from holding more.
    /// </summary>
    public (SegmentSlot[] Slots, bool IsCrowded, int Repeated) Snapshot()
    {
        lock (_gate)
        {
            var isShort = !_closed && _window.NextNumber <= _lastNumber && _window.Count > 0
                && _share.Held + _window.Head.Cost > _share.Limit && _share.IsCrowded;
            return (_closed ? [] : _window.Slots, isShort, _window.Repeated);
        }
    }

    /// <summary>Starts loading at the position, before the first read.</summary>
    public void Start()
    {
        lock (_gate)
            FillWindow();
    }

    /// <summary>Reads the next bytes; 0 only at the end.</summary>
    /// <exception cref="IOException">The bytes at the position are unavailable.</exception>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> ReadAsync(ReadTarget target, CancellationToken cancellationToken)
    {
        while (true)
        {
            lock (_gate)
            {
                _lastRead = _shared.Time.GetTimestamp();
                if (!_resumes)
                {
                    _reach = Math.Max(_reach, Position + Math.Min(target.Length, _shared.Options.ProbeBytes));
                    var taken = TakeAvailable(target);
                    if (taken > 0 || Position == _end || target.IsEmpty)
                        return taken;
                }

                _waiting = true;
            }

            try
            {
                if (_resumes)
                    await _debts.WaitSettledAsync(cancellationToken);
                else
                    await _window.WaitAsync(cancellationToken);
                _resumes = false;
            }
            finally
            {
                // Otherwise the timer would mistake a long wait for a pause, and drop the article that has just arrived.
                Volatile.Write(ref _lastRead, _shared.Time.GetTimestamp());
                _waiting = false;
            }
        }
    }

    /// <summary>Moves to a position in the window and keeps the segments after it.</summary>
    /// <returns>False if the window does not hold the position, so the caller needs a new reader.</returns>
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
            _window.LeaveReleased();
            Position = position;
            return true;
        }
    }

    /// <summary>Whether the segment at a position is held or in transit.</summary>
    public bool Holds(long position)
    {
        lock (_gate)
            return position < _end && _map.Locate(position) is var number && number >= _window.HeadNumber && number < _window.NextNumber;
    }

    /// <summary>Releases slots above the reduced share, farthest first, because other streams have entered.</summary>
    public void GiveBack()
    {
        lock (_gate)
        {
            if (_closed)
                return;
            _window.TrimTo(_share.Limit);
            _window.LeaveReleased();
        }
    }

    /// <summary>Releases everything, because another stream has the place now. Keeps the segments if a read has already regained a place.</summary>
    public void GiveUp()
    {
        lock (_gate)
        {
            if (_closed || _waiting)
                return;
            TrimAll();
            _window.LeaveReleased();
        }
    }

    /// <summary>Releases everything, withdraws requests not yet on the wire, and waits for all loads to end, including those verifying early bytes.</summary>
    public async ValueTask DisposeAsync()
    {
        await _idleTimer.DisposeAsync();
        lock (_gate)
        {
            _closed = true;
            _window.Trim(0);
        }

        await _window.DisposeAsync();
    }

    /// <summary>Reads the available bytes from as many segments as the target allows, and keeps the window full.</summary>
    private int TakeAvailable(ReadTarget target)
    {
        var total = 0;
        FillWindow();
        while (total < target.Length && Position < _end)
        {
            var slot = _window.Head;
            var taken = Take(slot, target.From(total), isFirst: total == 0);
            if (taken == 0 && slot.Piece.Length > 0)
            {
                if (total == 0)
                    taken = TakeOrWait(slot, target);
                if (taken == 0)
                    break;
            }

            total += taken;
            Position += taken;
            NoteArrival();
            var ends = Position == slot.Piece.End;
            _policy.Delivered(taken, _window.HeadNumber, ends);
            if (ends)
                ReleaseHead();
            if (slot.Piece.Length == 0)
                _window.LeaveReleased();
            FillWindow();
        }

        return total;
    }

    private int TakeOrWait(SegmentSlot slot, ReadTarget target)
    {
        if (!slot.IsLanding)
        {
            _waitedFor = _window.HeadNumber;
            _policy.Waited(_waitedFor);
        }

        FillWindow();
        _window.RaiseHead();
        _window.Await(slot);
        // Check again, because a change before Await did not wake the reader.
        return Take(slot, target, isFirst: true);
    }

    /// <summary>Measures the connection with a segment that the reader waited for. Segments from memory, or loaded for another reader, do not count.</summary>
    private void NoteArrival()
    {
        if (_waitedFor == _window.HeadNumber && _window.Head.BeganLoad)
            _policy.Arrived(_window.Head.ClaimedAt, _window.Head.Urgency.WasLate);
        _waitedFor = -1;
    }

    private int Take(SegmentSlot slot, ReadTarget target, bool isFirst)
    {
        var piece = slot.Piece;
        var offset = piece.SliceBegin + (int)(Position - piece.Begin);
        var stop = piece.SliceBegin + (int)(Math.Min(piece.End, _end) - piece.Begin);
        return slot.Take(offset, stop, _shared.Options.WithheldBytes, target.UpTo(stop - offset), isFirst);
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
            // A scan that finds its bytes on disk must cost the providers nothing, not even read-ahead.
            if (_window.IsLent)
                return;
            var headOfLine = _window.Count == 0;
            var cost = BudgetShare.CostOf(piece.Segment.Length);
            if (headOfLine)
                _share.Charge(cost);
            else if ((piece.Begin >= _reach && _window.Count >= _policy.Target(piece.Segment.Length, _share.Limit)) || !_share.TryCharge(cost))
                return;
            var isLanding = headOfLine && _landing;
            var urgency = new FetchUrgency(_reader, headOfLine) { Following = isLanding ? LikelyFollowing : 0 };
            var debt = isLanding ? _debts.TryBegin(piece.Segment.Index) : null;
            var slot = _window.Claim(piece, isLanding, urgency, _shared.Time.GetTimestamp(), debt);
            _shared.Fetcher.Begin(slot, _lane, _window.Closing);
        }
    }

    /// <summary>The number of articles that the reader will probably request next; 0 for a range no larger than a probe, because nothing follows it.</summary>
    private int LikelyFollowing => _end - Position <= _shared.Options.ProbeBytes ? 0 : Math.Min(LikelyToFollow, _lastNumber - _window.NextNumber);

    /// <summary>Trims the window of a paused player, so that its connections and memory go to active streams.</summary>
    private void TrimIfIdle()
    {
        lock (_gate)
        {
            if (_closed)
                return;

            // A waiting read is not idle. The flag is read once, because the wait may end at any moment.
            var idle = _waiting ? TimeSpan.Zero : _shared.Time.GetElapsedTime(Volatile.Read(ref _lastRead));
            TimeSpan next;
            if (idle < _shared.Options.IdleTrim)
            {
                next = _shared.Options.IdleTrim - idle;
            }
            else if (idle < _shared.Options.IdleDrop)
            {
                _window.Trim(KeptWhenIdle);
                _policy.Reset(KeptWhenIdle);
                next = _shared.Options.IdleDrop - idle;
            }
            else
            {
                TrimAll();
                next = _shared.Options.IdleTrim;
            }

            _window.LeaveReleased();
            _idleTimer.Change(next, Timeout.InfiniteTimeSpan);
        }
    }

    // Requires _gate, and no read may be waiting. The next read starts again at its position.
    private void TrimAll()
    {
        _window.Trim(0);
        _policy.Reset(1);
        (_landing, _resumes) = (true, true);
    }
}
