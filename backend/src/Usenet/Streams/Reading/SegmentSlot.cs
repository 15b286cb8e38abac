using System.Threading.Tasks.Sources;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>
/// One ordered place of a window: a segment on its way from the fetch that fills it to the reader that takes it.
/// </summary>
/// <remarks>
/// States and who writes them, each step one compare-and-swap:
/// <list type="bullet">
/// <item>Claimed → Lent: the fetch, when some blocks are there that were proved long ago, and the rest is left until it is wanted;</item>
/// <item>Claimed or Lent → Filling: the fetch, when the first bytes may be read while the rest arrives;</item>
/// <item>Claimed, Lent or Filling → Ready or Failed: the fetch, once;</item>
/// <item>any → Released: the reader, once.</item>
/// </list>
/// Buffers are handed over before the state that announces them, so a reader that sees the state sees the buffer. Whoever
/// loses the race against Released gives the buffer back itself.
/// </remarks>
internal sealed class SegmentSlot(SegmentWindow window) : IValueTaskSource
{
    private const int Claimed = 0;
    private const int Filling = 1;
    private const int Ready = 2;
    private const int Failed = 3;
    private const int Released = 4;
    private const int Lent = 5;

    private int _state;

    // Written by the fetch before Filling, and _available after it; read by the reader. One count is the slot's.
    private SegmentBuffer? _early;
    private int _available;

    // Written by the fetch before Lent. One count of the buffer, which has gaps, is the slot's.
    private SegmentBuffer? _lent;
    private TaskCompletionSource? _rest;

    // Written by the fetch before Ready or Failed. One count of the buffer is the slot's.
    private SegmentBuffer? _proved;
    private Exception? _failure;

    // Set before the slot is asked for. What the reader copies out of _early it owes; null where nothing may leave early.
    private SegmentDebt? _debt;

    // From asking for the segment until nothing is under way for the slot any more.
    private ManualResetValueTaskSourceCore<bool> _end;
    private CancellationTokenRegistration _leaving;
    private Action? _hurry;

    /// <summary>What the slot holds.</summary>
    public Piece Piece { get; private set; }

    /// <summary>Whether an open or a seek landed here.</summary>
    public bool IsLanding { get; private set; }

    /// <summary>How urgently it is wanted; may rise later.</summary>
    public FetchUrgency Urgency { get; private set; } = null!;

    /// <summary>Notes what is read, where that is to be kept; set by the fetch before any byte can be read.</summary>
    public ReadBlocks? Reads { get; set; }

    /// <summary>Whether the reader can go on without the rest of the segment, for all that is known.</summary>
    public bool IsLent => Volatile.Read(ref _state) == Lent && !_rest!.Task.IsCompleted;

    /// <summary>Whether it may have bytes before they are proved: it is a landing segment of a file that never lied, and its stream does not owe too much already.</summary>
    public bool IsEarly { get; private set; }

    /// <summary>The fetch that serves it, which it may share with others; set under the gate of that fetch.</summary>
    public SharedFetch? Fetch { get; set; }

    /// <summary>The next in the list of its fetch. Guarded by the fetch.</summary>
    public SegmentSlot? Next { get; set; }

    /// <summary>What comes before the fetch where that is not done at once; a part of what <see cref="Ended"/> ends.</summary>
    public Task Preparation { get; set; } = Task.CompletedTask;

    /// <summary>Whether nothing is under way for it any more: the fetch does not touch it from then on.</summary>
    public bool HasEnded => _end.GetStatus(_end.Version) != ValueTaskSourceStatus.Pending;

    /// <summary>Ends when <see cref="HasEnded"/> does; awaited at most once. Never fails.</summary>
    public ValueTask Ended => new(this, _end.Version);

    /// <summary>Whether the fetch has ended well or badly.</summary>
    public bool IsSettled => Volatile.Read(ref _state) is Ready or Failed;

    /// <summary>By the window: takes its place, for the first time or after a fetch that <see cref="HasEnded"/> and a release.</summary>
    /// <param name="piece">What it will hold.</param>
    /// <param name="isLanding">Whether an open or a seek landed there.</param>
    /// <param name="urgency">How urgently it is wanted.</param>
    /// <param name="debt">Takes note of the bytes that leave before the part is proved; null where none may.</param>
    public void Claim(Piece piece, bool isLanding, FetchUrgency urgency, SegmentDebt? debt)
    {
        (Piece, IsLanding, Urgency, _debt) = (piece, isLanding, urgency, debt);
        (_early, _available, _lent, _rest) = (null, 0, null, null);
        (_proved, _failure) = (null, null);
        (Reads, Fetch, Next, _hurry, _leaving) = (null, null, null, null, default);
        _end.Reset();
        Volatile.Write(ref _state, Claimed);
    }

    /// <summary>By the fetch, before it is joined: the slot leaves it with this token.</summary>
    public void LeaveWith(bool isTrusted, CancellationToken cancellationToken)
    {
        IsEarly = isTrusted && _debt is not null;
        _leaving = cancellationToken.UnsafeRegister(static state => ((SegmentSlot)state!).Leave(), this);
    }

    /// <summary>By the fetch: whoever urges the slot urges a fetch that others have begun.</summary>
    public void Hurries(FetchUrgency fetch) => Urgency.Raised += _hurry = fetch.Raise;

    /// <summary>The slot does not wait for its fetch any more. Nothing happens when that has ended.</summary>
    public void Leave() => Fetch?.Leave(this);

    /// <summary>By the fetch, once and as the last thing it does with the slot.</summary>
    public void EndFetch()
    {
        // No need to wait for a callback that runs just now: leaving what has ended does nothing.
        _leaving.Unregister();
        if (_hurry is not null)
            Urgency.Raised -= _hurry;
        _debt?.EndUnpaid(_failure);
        _end.SetResult(true);
    }

    /// <summary>By the fetch: blocks that were proved before may be read. Takes over the caller's count.</summary>
    /// <returns>Ends when the reader wants the rest; cancelled when it has done without.</returns>
    public Task Lend(SegmentBuffer blocks)
    {
        _lent = blocks;
        _rest = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (Interlocked.CompareExchange(ref _state, Lent, Claimed) == Claimed)
        {
            window.Notify(this);
        }
        else
        {
            blocks.Release();
            _rest.SetCanceled();
        }

        return _rest.Task;
    }

    /// <summary>By the fetch: this many bytes of the buffer may be read while the rest arrives.</summary>
    public void Publish(SegmentBuffer buffer, int available)
    {
        if (_early is null)
        {
            buffer.Retain();
            _early = buffer;
            Volatile.Write(ref _available, available);
            var before = Volatile.Read(ref _state);
            if (before is not (Claimed or Lent) || Interlocked.CompareExchange(ref _state, Filling, before) != before)
            {
                _early = null;
                buffer.Release();
                return;
            }
        }
        else if (ReferenceEquals(_early, buffer))
        {
            Volatile.Write(ref _available, available);
        }

        window.Notify(this);
    }

    /// <summary>By the fetch: the try that published has broken off, nothing more of it may be read.</summary>
    public void Withdraw() => _debt?.Withdraw();

    /// <summary>By the fetch: the segment is proved, and what was taken of it before is settled. Takes over the caller's count.</summary>
    public void Complete(SegmentBuffer proved)
    {
        _debt?.Settle(proved);
        _proved = proved;
        if (!TrySettle(Ready))
        {
            _proved = null;
            proved.Release();
        }
    }

    /// <summary>By the fetch: the segment cannot be had.</summary>
    public void Fail(Exception failure)
    {
        _debt?.EndUnpaid(failure);
        _failure = failure;
        TrySettle(Failed);
    }

    /// <summary>By the reader: copies what may be read now.</summary>
    /// <param name="offset">First byte in the segment.</param>
    /// <param name="stop">Where the response stops taking from this segment; before it the last bytes are withheld until proved.</param>
    /// <param name="withheld">How many.</param>
    /// <param name="destination">Filled as far as possible.</param>
    /// <param name="isFirst">
    /// Whether the read has nothing yet. Good bytes that it has are delivered first, so that a read ends exactly at its hole;
    /// the next one says why.
    /// </param>
    /// <returns>Bytes copied; 0 while the reader has to wait.</returns>
    /// <exception cref="IOException">The segment cannot be had, or bytes taken before it was proved were wrong.</exception>
    public int Take(int offset, int stop, int withheld, Span<byte> destination, bool isFirst)
    {
        var state = Volatile.Read(ref _state);
        var copied = 0;
        switch (state)
        {
            case Ready:
                _debt?.ThrowIfBad();
                copied = Copy(_proved!, offset, stop, destination);
                break;
            case Lent or Filling or Failed when _lent is not null && _lent.HeldEnd(offset) is var held && held > offset:
                copied = Copy(_lent, offset, Math.Min(held, stop), destination);
                break;
            case Lent:
                _rest!.TrySetResult();
                break;
            case Failed:
                return isFirst ? throw _failure! : 0;
            case Filling:
                var end = Math.Min(Volatile.Read(ref _available), stop - withheld);
                if (end > offset && _debt!.TryOwe(_early!, offset, Math.Min(end, offset + destination.Length)))
                    copied = Copy(_early!, offset, end, destination);
                break;
        }

        Reads?.Note(offset, copied);
        return copied;
    }

    /// <summary>
    /// By the reader, when the slot is given back: whether its fetch goes on all the same, because bytes are owed that it settles.
    /// </summary>
    /// <param name="cancellation">Gives the fetch up when the stream is closed; owned by the debt from then on.</param>
    public bool KeepsFetch(CancellationTokenSource cancellation) => _debt?.TryKeep(cancellation) == true;

    /// <summary>By the reader: the slot is not needed any more, whatever has become of it.</summary>
    /// <returns>Whether its fetch ends by itself: it has settled the slot, or waited for nothing but the reader.</returns>
    public bool Release()
    {
        var before = Interlocked.Exchange(ref _state, Released);
        if (before == Ready)
        {
            Reads?.Offer(_proved!);
            _proved!.Release();
        }

        var hasDoneWithout = false;
        if (before != Claimed && _lent is not null)
        {
            _lent.Release();
            hasDoneWithout = _rest!.TrySetCanceled() && before == Lent;
        }

        // In Claimed there is no early buffer, or one that its fetch is about to give back itself.
        if (before is Filling or Ready or Failed)
            _early?.Release();
        return before is Ready or Failed || hasDoneWithout;
    }

    void IValueTaskSource.GetResult(short token) => _end.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _end.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _end.OnCompleted(continuation, state, token, flags);

    private static int Copy(SegmentBuffer source, int offset, int end, Span<byte> destination)
    {
        var count = Math.Min(end - offset, destination.Length);
        if (count <= 0)
            return 0;
        source.CopyTo(offset, destination[..count]);
        return count;
    }

    private bool TrySettle(int settled)
    {
        var before = Volatile.Read(ref _state);
        while (before is Claimed or Lent or Filling)
        {
            var seen = Interlocked.CompareExchange(ref _state, settled, before);
            if (seen == before)
            {
                window.Notify(this);
                return true;
            }

            before = seen;
        }

        return false;
    }
}
