using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>
/// The gates of one account that a new connection passes, in the order of <see cref="Gate"/>, and all sockets that count toward its cap.
/// Besides the open connections these are dials, parallel dials to a second address and closing sockets, because the server counts them too.
/// </summary>
/// <remarks>Used under the lock of the pool, except <see cref="ResetsHelp"/>. All times are timestamps of the time provider.</remarks>
internal sealed class DialGates
{
    // Until the cap is proven, further dials wait this long for the outcome of the first ones.
    private static readonly TimeSpan FirstRow = TimeSpan.FromSeconds(1);

    // A dial starts slightly after its article begins to wait. This offset makes both count as late at the same time.
    private static readonly TimeSpan DialLag = TimeSpan.FromMilliseconds(10);

    private readonly SharedAdmission _shared;
    private readonly LeaseScheduler _scheduler;
    private readonly ProviderHealth _health;
    private readonly DeadlineTimer _timer;
    private readonly LeftSockets _left;

    // Starts of the running dials, in order.
    private readonly List<long> _begun = [];
    private long _lastBegunAt;
    private long _noted = long.MinValue;
    private int _beside;
    private int _closing;

    public DialGates(ProviderOptions options, SharedAdmission shared, LeaseScheduler scheduler, ProviderHealth health, DeadlineTimer timer)
    {
        (_shared, _scheduler, _health, _timer) = (shared, scheduler, health, timer);
        Cap = new ConnectionCap(options, shared);
        _left = new LeftSockets(Cap, shared);
    }

    public ConnectionCap Cap { get; }

    /// <summary>Number of dials, including parallel ones, and of closing sockets.</summary>
    public int Changing => _begun.Count + _beside + _closing;

    public int Count => _scheduler.Open.Count + Changing;

    public bool IsFull => Count >= Cap.Current;

    /// <summary>Whether the warm floor needs all open connections, which stay open although nothing plays.</summary>
    public bool IsAtTheFloor => _shared.Options.KeepsWarm && _scheduler.Serving <= _shared.Options.WarmFloor;

    /// <summary>Whether no connection is open and the oldest dial exceeds the hedge wait, so that fetches need not wait for it.</summary>
    public bool IsMute => _scheduler.Serving == 0 && _shared.Options.HedgeEnabled && _begun.Count > 0
        && _shared.Time.GetElapsedTime(_begun[0]) >= _shared.Options.HedgeWait - DialLag;

    public bool NoneWillServe => _scheduler.Serving == 0 && _begun.Count == 0;

    /// <summary>Whether another connection will serve soon, or may be dialed.</summary>
    public bool MoreMayServe => _begun.Count > 0 || (!IsFull && !_left.HoldsUpDials && MayReach);

    /// <summary>Whether no more dials may begin, because the pool closes.</summary>
    public bool IsShut { get; private set; }

    public bool ResetsHelp => _left.ResetsHelp;

    private bool MayReach => _health.Resting is null && !IsShut;

    /// <summary>Asks whether one more dial may start, which <see cref="Begin"/> then takes.</summary>
    /// <param name="depth">Commands that a connection takes.</param>
    /// <param name="again">When to ask again without an event; null if only events can help.</param>
    public Gate Ask(int depth, out TimeSpan? again)
    {
        var options = _shared.Options;
        again = null;

        // If readers wait, the first few dials run in parallel. More connections would be no faster on a thin line, and a seek would abandon more of them.
        var mostDials = _scheduler.ReadersWait
            ? Math.Max(options.HandshakesPerProvider, options.MostHandshakesPerProvider - _scheduler.Serving)
            : options.HandshakesPerProvider;

        // Without this check, the pool would redial a server that closes idle sockets forever, although nothing uses the connections.
        var lackingOfTheFloor = options.KeepsWarm && _scheduler.IsBusy ? options.WarmFloor - _scheduler.Serving : 0;
        if (Math.Max(_scheduler.Lacking(depth), lackingOfTheFloor) <= _begun.Count)
            return Gate.Demand;
        if (_begun.Count >= mostDials)
            return Gate.Dials;
        if (!MayReach)
            return Gate.Breaker;
        if (_left.HoldsUpDials && _left.Rest is var rest && rest > TimeSpan.Zero)
        {
            again = rest;
            return Gate.Rest;
        }

        // The outcome of the first dials shows whether the server has room for more.
        if (Cap.Proven < mostDials && Count >= mostDials && _begun.Count > 0 && FirstRow - _shared.Time.GetElapsedTime(_lastBegunAt) is var row && row > TimeSpan.Zero)
        {
            again = row;
            return Gate.FirstRow;
        }

        // All slots may belong to closed sockets that the server no longer counts.
        _left.EndRest();
        var isOpen = !IsFull || (_begun.Count == 0 && Count <= Cap.Current && _left.MayTry(out again));
        return isOpen ? Gate.None : Gate.Cap;
    }

    /// <summary>Takes a slot for a dial, and returns its start time for <see cref="End"/>.</summary>
    public long Begin()
    {
        if (_shared.Options.HedgeEnabled)
            _timer.Arm(_shared.Options.HedgeWait);
        _lastBegunAt = _shared.Time.GetTimestamp();
        _begun.Add(_lastBegunAt);
        return _lastBegunAt;
    }

    public void End(long begunAt) => _begun.Remove(begunAt);

    /// <summary>Takes a slot for a parallel dial to a second address; false if none is free.</summary>
    public bool TryBeginBeside()
    {
        if (IsFull || IsShut)
            return false;
        _beside++;
        return true;
    }

    public void EndBeside() => _beside--;

    public void BeginClose() => _closing++;

    /// <summary>Takes a connection out of service. Its socket still counts.</summary>
    public void BeginClose(ConnectionLoad load)
    {
        _scheduler.Remove(load);
        _closing++;
    }

    public void EndClose() => _closing--;

    /// <summary>Adds a closing socket that the server may still count.</summary>
    public void Left(LeftPlace place) => _left.Add(place);

    /// <summary>Learns from a successful dial.</summary>
    public void Opened()
    {
        Cap.Reached(_scheduler.Open.Count);
        _left.Opened(Count);
    }

    /// <summary>Learns from a refusal. <paramref name="counted"/> is the number of other sockets that the server counted.</summary>
    public void Refused(int counted) => _left.Refused(counted, _scheduler.Serving);

    /// <summary>Learns from a failed dial, except a refusal while the server counted other sockets.</summary>
    public void Failed(NntpFault fault)
    {
        _left.DialFailed();
        if (fault == NntpFault.TooManyConnections)
            Cap.RefusedAll();
    }

    public void Shut() => IsShut = true;

    /// <summary>Whether waiting fetches should leave, because a dial takes too long. True once for each such dial.</summary>
    public bool TryNoteMute()
    {
        var options = _shared.Options;
        var next = _begun.FindIndex(begun => _shared.Time.GetElapsedTime(begun) < options.HedgeWait);
        if (options.HedgeEnabled && next >= 0)
            _timer.Arm(options.HedgeWait - _shared.Time.GetElapsedTime(_begun[next]));
        if (!IsMute || _begun[0] <= _noted)
            return false;
        _noted = _begun[0];
        return true;
    }

    public override string ToString() => $"{_begun.Count} dialling, {_beside} beside, {_closing} closing";
}
