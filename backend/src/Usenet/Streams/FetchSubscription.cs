using System.Threading.Tasks.Sources;
using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams;

/// <summary>One slot's part in a fetch that it may share with others: from joining it to leaving it or to its end.</summary>
internal sealed class FetchSubscription(SegmentSlot slot, FetchUrgency urgency, bool mayBeEarly) : IValueTaskSource
{
    private ManualResetValueTaskSourceCore<bool> _end;

    /// <summary>The slot that is to be filled.</summary>
    public SegmentSlot Slot => slot;

    /// <summary>Whether it may have bytes before they are proved: it is a landing segment of a file that never lied.</summary>
    public bool IsEarly => mayBeEarly && slot.IsLanding;

    /// <summary>How much its reader wants it.</summary>
    public FetchUrgency Urgency => urgency;

    /// <summary>The fetch; set by it before anybody else sees the subscription.</summary>
    public SharedFetch Fetch { get; set; } = null!;

    /// <summary>The next in the list of its fetch. Guarded by the fetch.</summary>
    public FetchSubscription? Next { get; set; }

    /// <summary>Ends when the slot has been settled or has left. Awaited once; never fails.</summary>
    public ValueTask Ended => new(this, _end.Version);

    /// <summary>By the fetch, once: nothing more comes.</summary>
    public void End() => _end.SetResult(true);

    /// <summary>The slot does not wait any more. Nothing happens when the fetch has ended.</summary>
    public void Leave() => Fetch.Leave(this);

    void IValueTaskSource.GetResult(short token) => _end.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource.GetStatus(short token) => _end.GetStatus(token);

    void IValueTaskSource.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _end.OnCompleted(continuation, state, token, flags);
}
