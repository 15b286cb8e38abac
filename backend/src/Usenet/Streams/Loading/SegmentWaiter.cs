using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Cache;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Memory;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Usenet.Streams.Loading;

/// <summary>
/// A slot in a reader's window that a load fills. The load calls <see cref="Publish"/>, <see cref="Withdraw"/>, <see cref="Complete"/> and
/// <see cref="Fail"/>, one at a time, and <see cref="End"/> last.
/// </summary>
/// <remarks>Thread-safe: <see cref="Leave"/> may come from another thread at any time.</remarks>
internal abstract class SegmentWaiter(Piece piece, FetchUrgency urgency, bool isEarly)
{
    /// <summary>The next waiter in the list of the load. Only the load reads and writes it.</summary>
    public SegmentWaiter? Next;

    private SegmentLoad? _load;
    private bool _hasLeft;

    public Piece Piece => piece;

    public FetchUrgency Urgency => urgency;

    /// <summary>Whether bytes may be published before they are verified. Set before the waiter joins a load.</summary>
    public bool IsEarly { get; set; } = isEarly;

    /// <summary>Records the range that was read; null if nothing is kept on disk. Set before any byte can be read.</summary>
    public ReadBlocks? Reads { get; set; }

    /// <summary>The lookup of ids or disk blocks before a load, if needed. Never fails, and has completed once the waiter has ended.</summary>
    public Task Preparation { get; set; } = Task.CompletedTask;

    /// <summary>Whether to wait for the second request after damaged copies. If false, the reader gets an error before any byte and can retry.</summary>
    public virtual bool MustWait => true;

    public bool HasLeft => Volatile.Read(ref _hasLeft);

    /// <summary>The waiter's range in the served file; empty if unknown.</summary>
    public virtual Stretch Place => new(piece.Begin, piece.Length);

    public int ArrivedBytes => Volatile.Read(ref _load)?.ArrivedBytes ?? 0;

    /// <summary>Whether the load was started for this waiter, not for an earlier one, so that the load's duration measures the connection.</summary>
    public bool BeganLoad => Volatile.Read(ref _load)?.Urgency == urgency;

    /// <summary>Called by the load under its <c>_gate</c>. Links the urgencies, so that raising this waiter also raises a load started by another.</summary>
    public void Join(SegmentLoad load)
    {
        if (urgency != load.Urgency)
            urgency.Follow(load.Urgency);

        // Full fence between this write and the owner's read of HasLeft, because the waiter may leave right now. Either the waiter sees the load and
        // leaves it, or the owner sees HasLeft.
        Interlocked.Exchange(ref _load, load);
    }

    /// <summary>Stops waiting. Does nothing if the load has ended.</summary>
    public void Leave()
    {
        Interlocked.Exchange(ref _hasLeft, true);
        Volatile.Read(ref _load)?.Leave(this);
    }

    /// <summary>Called once and last, when no work for the waiter is in progress.</summary>
    public void End()
    {
        if (_load is { } load)
            urgency.Unfollow(load.Urgency);
        Ended();
    }

    /// <summary>Lends the waiter verified blocks from disk. Takes over the caller's reference.</summary>
    /// <returns>A task that completes when the reader needs the rest of the segment, and is canceled if the reader never does.</returns>
    public abstract Task Lend(SegmentBuffer blocks);

    /// <summary>Makes this many bytes of the buffer readable while the rest arrives. Must not block.</summary>
    public abstract void Publish(SegmentBuffer buffer, int available);

    /// <summary>Withdraws the published bytes, because the try that delivered them failed. Must not block.</summary>
    public abstract void Withdraw();

    /// <summary>Delivers the verified segment, against which bytes read early are checked. Takes over the caller's reference.</summary>
    public abstract void Complete(SegmentBuffer proved);

    public abstract void Fail(Exception failure);

    /// <inheritdoc cref="End"/>
    protected abstract void Ended();
}

/// <summary>The part of one segment in a combined file. <c>Begin</c> is the part's offset in that file, <c>SliceBegin</c> in the segment.</summary>
internal readonly record struct Piece(PostedFile File, Segment Segment, long Begin, int SliceBegin, int Length)
{
    public long End => Begin + Length;
}
