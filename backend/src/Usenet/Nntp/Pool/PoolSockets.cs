namespace Sluice.Usenet.Nntp;

/// <summary>
/// The sockets of one pool against its cap: those that serve, those that are being opened and those that are still closing, because
/// the server counts them all. Says whether one more is worth opening.
/// </summary>
/// <remarks>Guarded by the lock of the pool.</remarks>
internal sealed class PoolSockets(LeaseScheduler scheduler, ProviderHealth health, ConnectionCap cap, NntpOptions options)
{
    private int _dialling;
    private int _closing;
    private bool _isClosed;

    /// <summary>All of them.</summary>
    public int Count => scheduler.Open.Count + _dialling + _closing;

    /// <summary>Whether none serves.</summary>
    public bool NoneIsOpen => scheduler.Open.Count == 0;

    /// <summary>Whether none serves, and none is about to.</summary>
    public bool NoneWillServe => NoneIsOpen && _dialling == 0;

    /// <summary>Whether the provider takes no more of them.</summary>
    public bool IsFull => Count >= cap.Current;

    /// <summary>Whether one more will serve soon, or could.</summary>
    public bool MoreMayServe => MayDial || _dialling > 0;

    /// <summary>Whether no more serve than are kept though nobody plays.</summary>
    public bool AreOnlyTheFloor => options.KeepsWarm && scheduler.Open.Count <= options.WarmFloor;

    private bool MayDial => !IsFull && health.Resting is null && !_isClosed;

    // A provider that nobody uses is left alone: one that closes what is opened would be dialled for ever.
    private int Floor => options.KeepsWarm && scheduler.IsBusy ? options.WarmFloor - scheduler.Open.Count : 0;

    /// <summary>Begins to open one more where that helps.</summary>
    /// <param name="depth">Bodies that a connection takes.</param>
    public bool TryDial(int depth)
    {
        if (Math.Max(scheduler.Lacking(depth), Floor) <= _dialling || _dialling >= options.HandshakesPerProvider || !MayDial)
            return false;
        BeginDial();
        return true;
    }

    /// <summary>One is being opened.</summary>
    public void BeginDial() => _dialling++;

    /// <summary>It is not being opened any more.</summary>
    public void EndDial() => _dialling--;

    /// <summary>It serves.</summary>
    public void Opened(ConnectionLoad load)
    {
        scheduler.Add(load);
        cap.Reached(scheduler.Open.Count);
    }

    /// <summary>The server takes no more than are open.</summary>
    public void Refused() => cap.Refused(scheduler.Open.Count);

    /// <summary>One serves no more, and still counts.</summary>
    public void BeginClose(ConnectionLoad load)
    {
        scheduler.Remove(load);
        _closing++;
    }

    /// <summary>It is gone.</summary>
    public void EndClose() => _closing--;

    /// <summary>No more are opened.</summary>
    public void Close() => _isClosed = true;
}
