namespace Sluice.Usenet.Nntp;

/// <summary>
/// The sockets of one pool against its cap: those that serve, those that are being opened and those that are still closing, because
/// the server counts them all. Says whether one more is worth opening.
/// </summary>
/// <remarks>Guarded by the lock of the pool.</remarks>
internal sealed class PoolSockets(LeaseScheduler scheduler, ProviderHealth health, ConnectionCap cap, SharedResources shared)
{
    private int _dialling;
    private int _closing;
    private int _leaving;
    private bool _isClosed;

    /// <summary>All of them.</summary>
    public int Count => scheduler.Open.Count + _dialling + _closing;

    /// <summary>Whether none serves.</summary>
    public bool NoneIsOpen => scheduler.Open.Count == _leaving;

    /// <summary>Whether none serves, and none is about to.</summary>
    public bool NoneWillServe => NoneIsOpen && _dialling == 0;

    /// <summary>Whether the provider takes no more of them.</summary>
    public bool IsFull => Count >= cap.Current;

    /// <summary>Whether one more will serve soon, or could.</summary>
    public bool MoreMayServe => MayDial || _dialling > 0;

    /// <summary>Whether more serve than the settings allow.</summary>
    public bool IsBeyondCap => scheduler.Open.Count - _leaving > cap.Promised;

    /// <summary>Whether no more serve than are kept though nobody plays.</summary>
    public bool AreOnlyTheFloor => shared.Options.KeepsWarm && scheduler.Open.Count - _leaving <= shared.Options.WarmFloor;

    private bool MayDial => !IsFull && health.Resting is null && !_isClosed;

    // A provider that nobody uses is left alone: one that closes what is opened would be dialled for ever.
    private int Floor => shared.Options.KeepsWarm && scheduler.IsBusy ? shared.Options.WarmFloor - (scheduler.Open.Count - _leaving) : 0;

    /// <summary>Begins to open one more where that helps.</summary>
    /// <param name="depth">Bodies that a connection takes.</param>
    public bool TryDial(int depth)
    {
        if (Math.Max(scheduler.Lacking(depth), Floor) <= _dialling || _dialling >= shared.Options.HandshakesPerProvider || !MayDial)
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

    /// <summary>The settings of the account have changed.</summary>
    public void Change(ProviderOptions options) => cap.Change(options);

    /// <summary>What has been learned before is there now.</summary>
    public void Recall() => cap.Recall();

    /// <summary>Decides which take nothing more: those of another login, and as many as are too many, idle ones first.</summary>
    /// <returns>Those of them that owe nothing and may close.</returns>
    public NntpConnection[] MarkLeaving(int login)
    {
        foreach (var load in scheduler.Open)
            load.IsLeaving = load.Login != login;
        var staying = scheduler.Open.Where(load => !load.IsLeaving).ToArray();
        foreach (var load in staying.OrderBy(load => load.Commands).Take(Math.Max(0, staying.Length - cap.Promised)))
            load.IsLeaving = true;
        _leaving = scheduler.Open.Count(load => load.IsLeaving);
        return [.. scheduler.Open.Where(load => load is { IsLeaving: true, Commands: 0 }).Select(load => load.Connection)];
    }

    /// <summary>One serves no more, and still counts.</summary>
    public void BeginClose(ConnectionLoad load)
    {
        if (load.IsLeaving)
            _leaving--;
        scheduler.Remove(load);
        _closing++;
    }

    /// <summary>It is gone.</summary>
    public void EndClose() => _closing--;

    /// <summary>No more are opened.</summary>
    public void Close() => _isClosed = true;
}
