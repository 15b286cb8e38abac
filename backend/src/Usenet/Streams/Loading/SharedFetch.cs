using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// One fetch under way and the slots that wait for it. A slot may join at any time and gets what is there; the fetch is given
/// up when the last has left, unless it is so nearly done that giving it up would save nothing. Serves one segment, and then another.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> orders joining, leaving, the arrival of bytes and the end; it is held for moments, and nothing that
/// calls out of this folder runs under it.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source has nothing to dispose, and the timer is disposed when the fetch ends.")]
internal sealed class SharedFetch
{
    /// <summary>With no more than this to come, an unwanted article is let in: its connection would read it to the end anyway.</summary>
    private const int WorthFinishing = 256 * 1024;

    // At the edges of a file, where scanners come again and again, what is kept on disk is worth more.
    private const int WorthKeeping = 1024 * 1024;

    private static readonly TimeSpan LongestFinish = TimeSpan.FromMilliseconds(250);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private SegmentSlot? _first;

    // The last to leave waits for the end, so that whoever closes a stream knows that nothing is under way for it.
    private SegmentSlot? _lastLeaver;
    private ITimer? _finishing;
    private ReadBlocks? _reads;

    // Has neither timer nor handle unless somebody asks for one, so it is left to the collector.
    private CancellationTokenSource _cancel = new();
    private SegmentBuffer? _early;
    private int _available;
    private bool _hasBeenSeen;
    private int _arrived;
    private bool _hasStarted;
    private bool _isAbandoned;
    private bool _hasEnded = true;
    private bool _hadCompany;
    private long _joinedAt;

    /// <param name="time">Clock.</param>
    public SharedFetch(TimeProvider time) => _time = time;

    /// <summary>What is fetched.</summary>
    public SegmentKey Key { get; private set; }

    /// <summary>The file for which it was begun; others that have the same segment share its fate.</summary>
    public FileOrigin File { get; private set; } = null!;

    /// <summary>Whom that file tells when an article contradicts its map; null: nobody.</summary>
    public IMapCorrection? Correction { get; private set; }

    /// <summary>Whether the segment was fetched before, to no avail.</summary>
    public bool IsAgain { get; private set; }

    /// <summary>What the articles of that file carry.</summary>
    public FileHabit Habit { get; private set; } = null!;

    /// <summary>The most urgent lane of those who have joined.</summary>
    public OperationLane Lane { get; private set; }

    /// <summary>How urgently it is wanted by whoever wants it most.</summary>
    public FetchUrgency Urgency { get; private set; } = null!;

    /// <summary>Ends the present try: for good, or so that the next one goes in a more urgent lane.</summary>
    public CancellationToken Token => Volatile.Read(ref _cancel).Token;

    /// <summary>Whether nobody wants it any more.</summary>
    public bool IsAbandoned => Volatile.Read(ref _isAbandoned);

    /// <summary>Since when the one who has joined last waits.</summary>
    public TimeSpan Waited => _time.GetElapsedTime(Volatile.Read(ref _joinedAt));

    /// <summary>Begins for a slot, before anybody else knows of it.</summary>
    /// <param name="key">What is fetched.</param>
    /// <param name="first">Who wants it; the urgency of its reader is that of the fetch, and rises with that of any other.</param>
    /// <param name="lane">Why.</param>
    /// <param name="isAgain">Whether the segment was fetched before, to no avail.</param>
    public void Begin(SegmentKey key, SegmentSlot first, OperationLane lane, bool isAgain)
    {
        lock (_gate)
        {
            (Key, Lane, Urgency, IsAgain) = (key, lane, first.Urgency, isAgain);
            (File, Correction, Habit) = (first.Piece.File.Origin, first.Piece.File.Correction, first.Piece.File.Habit);
            (_first, first.Fetch) = (first, this);
            _hasStarted = _hasEnded = false;
            _joinedAt = _time.GetTimestamp();
        }
    }

    /// <summary>
    /// Makes a fetch that has ended fit for another segment: one that a single slot has waited for, to the end. Of any other there
    /// may be somebody left who is about to hurry it or to give it up.
    /// </summary>
    public bool TryReset()
    {
        lock (_gate)
            return _hasEnded && !_hadCompany && !_isAbandoned && _reads is null && _finishing is null && _cancel.TryReset();
    }

    /// <summary>One more slot waits; what a landing segment may have already, it gets at once.</summary>
    /// <returns>False when the fetch has ended or was given up.</returns>
    public bool TryJoin(SegmentSlot slot)
    {
        lock (_gate)
        {
            if (_isAbandoned || _hasEnded)
                return false;
            _hadCompany = true;
            slot.Hurries(Urgency);
            slot.Fetch = this;
            slot.Next = _first;
            _first = slot;
            _joinedAt = _time.GetTimestamp();
            _finishing?.Dispose();
            _finishing = null;
            if (slot.IsEarly && _available > 0)
            {
                _hasBeenSeen = true;
                slot.Publish(_early!, _available);
            }

            return true;
        }
    }

    /// <summary>Makes the fetch as urgent as somebody wants it who has joined.</summary>
    public void Hurry(OperationLane lane, bool isHeadOfLine)
    {
        if (isHeadOfLine)
            Urgency.Raise();

        CancellationTokenSource superseded;
        lock (_gate)
        {
            if (lane >= Lane || _isAbandoned || _hasEnded)
                return;
            Lane = lane;
            if (_hasStarted)
                return;
            superseded = _cancel;
            _cancel = new CancellationTokenSource();
        }

        superseded.Cancel();
    }

    /// <summary>A slot does not wait any more. Nothing happens when the fetch has ended.</summary>
    public void Leave(SegmentSlot slot)
    {
        CancellationTokenSource? unwanted = null;
        lock (_gate)
        {
            if (!Remove(slot))
                return;
            if (_first is null && !IsWorthFinishing(slot))
            {
                _isAbandoned = true;
                _lastLeaver = slot;
                unwanted = _cancel;
            }
            else if (_first is null)
            {
                _reads = slot.Reads;
                _finishing = _time.CreateTimer(static state => ((SharedFetch)state!).GiveUp(), this, LongestFinish, Timeout.InfiniteTimeSpan);
            }
        }

        if (unwanted is null)
            slot.EndFetch();
        else
            unwanted.Cancel();
    }

    /// <summary>Ends the fetch, whoever waits for it.</summary>
    public void Abandon()
    {
        lock (_gate)
            _isAbandoned = true;
        _cancel.Cancel();
    }

    /// <summary>By the sink: a try begins, or has turned out worthless. What has been published of the last one is withdrawn.</summary>
    /// <returns>Whether anybody has seen the buffer of the last one, so that it must never be written again.</returns>
    public bool Retract()
    {
        lock (_gate)
        {
            var hadBeenSeen = _hasBeenSeen;
            for (var each = hadBeenSeen ? _first : null; each is not null; each = each.Next)
                each.Withdraw();
            Forget();
            return hadBeenSeen;
        }
    }

    /// <summary>By the sink: the buffer is taken out of the sink's hands; what has been published of it stands.</summary>
    public void Detach()
    {
        lock (_gate)
            Forget();
    }

    /// <summary>By the sink: this many bytes have been decoded.</summary>
    public void Arrived(SegmentBuffer buffer, int count, bool mayPublish)
    {
        lock (_gate)
        {
            _hasStarted = true;
            _arrived = count;
            if (!mayPublish || count == 0)
                return;
            (_early, _available) = (buffer, count);
            for (var each = _first; each is not null; each = each.Next)
            {
                if (!each.IsEarly)
                    continue;
                _hasBeenSeen = true;
                each.Publish(buffer, count);
            }
        }
    }

    /// <summary>The segment is proved: every slot gets a count of the buffer. The caller keeps its own.</summary>
    public void Succeed(SegmentBuffer proved)
    {
        for (var slot = End(); slot is not null;)
        {
            // Its list is read before: with the end of its fetch it may serve again at once.
            var next = slot.Next;
            proved.Retain();
            slot.Complete(proved);
            slot.EndFetch();
            slot = next;
        }

        _reads?.Offer(proved);
        _lastLeaver?.EndFetch();
    }

    /// <summary>The segment cannot be had: every slot is told why.</summary>
    public void Fail(Exception failure)
    {
        for (var slot = End(); slot is not null;)
        {
            var next = slot.Next;
            slot.Fail(failure);
            slot.EndFetch();
            slot = next;
        }

        _lastLeaver?.EndFetch();
    }

    private bool IsWorthFinishing(SegmentSlot slot) =>
        _arrived > 0 && Key.Segment.Length - _arrived <= (slot.Reads is null ? WorthFinishing : WorthKeeping);

    private void GiveUp()
    {
        lock (_gate)
        {
            if (_first is not null || _hasEnded)
                return;
            _isAbandoned = true;
        }

        _cancel.Cancel();
    }

    private SegmentSlot? End()
    {
        lock (_gate)
        {
            _hasEnded = true;
            _finishing?.Dispose();
            var all = _first;
            _first = null;
            return all;
        }
    }

    private void Forget() => (_early, _available, _arrived, _hasBeenSeen) = (null, 0, 0, false);

    private bool Remove(SegmentSlot slot)
    {
        SegmentSlot? before = null;
        for (var each = _first; each is not null; before = each, each = each.Next)
        {
            if (!ReferenceEquals(each, slot))
                continue;
            if (before is null)
                _first = each.Next;
            else
                before.Next = each.Next;
            return true;
        }

        return false;
    }
}
