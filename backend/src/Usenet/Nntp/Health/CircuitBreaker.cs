using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

internal enum BreakerState
{
    /// <summary>All operations pass.</summary>
    Closed,

    /// <summary>Nothing passes until the cooldown is over.</summary>
    Open,

    /// <summary>One probe is running.</summary>
    HalfOpen,
}

/// <summary>
/// Keeps fetches away from a provider that keeps failing, and allows a probe after a cooldown of 5 s, doubled up to 60 s. A breaker that opened several times
/// within an hour needs more passed probes before it closes, so that a flaky provider cannot make it flap (F13). A miss is not a failure and is never reported
/// here.
/// </summary>
/// <remarks>Thread-safe. The owner of a probe always disposes it. A probe kept too long becomes void, so that the breaker never stays half-open.</remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The probe belongs to the operation that asked for it; here it is only compared.")]
internal sealed class CircuitBreaker
{
    /// <summary>A probe without a verdict becomes void after this time.</summary>
    public static readonly TimeSpan ProbeLimit = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan LeastRest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan HistoryWindow = TimeSpan.FromHours(1);
    private const int MostDoublings = 5;

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;
    private readonly int _tolerated;
    private TimeSpan _firstCooldown;
    private TimeSpan _longestCooldown;
    private BreakerProbe? _probe;
    private NntpException? _failure;
    private TimeSpan _cooldown;
    private long _restsSince;
    private long _probeSince;
    private long _openedAt;
    private int _faults;
    private int _trips;
    private int _passesLeft;

    // Opens after "tolerated" consecutive faults.
    public CircuitBreaker(TimeProvider time, int tolerated, TimeSpan firstCooldown, TimeSpan longestCooldown, RememberedBreak? known = null)
    {
        (_time, _tolerated, _firstCooldown, _longestCooldown) = (time, tolerated, firstCooldown, longestCooldown);
        if (known is not null)
            Restore(known);
    }

    /// <summary>Raised outside of the lock when the breaker has opened.</summary>
    public event Action? Opened;

    /// <summary>Raised outside of the lock when the breaker has closed.</summary>
    public event Action? Closed;

    /// <summary>Raised outside of the lock when the state to remember has changed.</summary>
    public event Action? Changed;

    public BreakerState State
    {
        get
        {
            lock (_gate)
                return _failure is null ? BreakerState.Closed : _probe is null ? BreakerState.Open : BreakerState.HalfOpen;
        }
    }

    /// <summary>The fault that opened the breaker; null while closed.</summary>
    public NntpException? Failure
    {
        get
        {
            lock (_gate)
                return _failure;
        }
    }

    /// <summary>Time until a probe may start; zero if one may start now, or if the breaker is closed.</summary>
    public TimeSpan Rest
    {
        get
        {
            lock (_gate)
                return RestNow();
        }
    }

    public void Configure(TimeSpan firstCooldown, TimeSpan longestCooldown)
    {
        lock (_gate)
        {
            (_firstCooldown, _longestCooldown) = (firstCooldown, longestCooldown);
            _cooldown = _failure is null ? _cooldown : Clamp(_cooldown, firstCooldown, longestCooldown);
        }
    }

    /// <summary>Closes the breaker and forgets its history. The result of a running probe is ignored.</summary>
    public void Forget()
    {
        bool wasOpen;
        lock (_gate)
        {
            wasOpen = _failure is not null;
            (_probe, _failure, _faults, _trips, _passesLeft) = (null, null, 0, 0, 0);
        }

        if (wasOpen)
            Closed?.Invoke();
    }

    /// <summary>Restores the state of an earlier breaker, unless this one has already opened.</summary>
    public void Recall(RememberedBreak? known)
    {
        lock (_gate)
        {
            if (known is null || _trips > 0)
                return;
            Restore(known);
            if (_failure is null)
                return;
        }

        Opened?.Invoke();
    }

    /// <summary>Counts a fault of an ordinary operation. Ignored while open, because such an operation began before the breaker opened.</summary>
    /// <param name="atOnce">Whether this one fault is enough to open.</param>
    public void Failed(NntpException failure, bool atOnce = false)
    {
        lock (_gate)
        {
            if (_failure is not null || (++_faults < _tolerated && !atOnce))
                return;
            Trip(failure);
        }

        Opened?.Invoke();
        Changed?.Invoke();
    }

    public void Succeeded()
    {
        lock (_gate)
            _faults = 0;
    }

    /// <summary>Requests permission for one probe; null if the breaker is closed, in cooldown, or has a probe running.</summary>
    /// <param name="atOnce">Ignores the cooldown, because the caller tests the provider.</param>
    /// <param name="isNeeded">Shortens the cooldown to one second, because a reader may have no other provider.</param>
    public BreakerProbe? TryProbe(bool atOnce = false, bool isNeeded = false)
    {
        lock (_gate)
        {
            if (_failure is null)
                return null;
            var mayCutShort = _probe is null && (atOnce || (isNeeded && _time.GetElapsedTime(_restsSince) >= LeastRest));
            if (RestNow() > TimeSpan.Zero && !mayCutShort)
                return null;
            _probeSince = _time.GetTimestamp();
            return _probe = new BreakerProbe(this);
        }
    }

    /// <summary>The state to store; null if there is nothing to remember.</summary>
    public RememberedBreak? Remember()
    {
        lock (_gate)
        {
            var since = _time.GetElapsedTime(_openedAt);
            if (_trips == 0 || (_failure is null && since >= HistoryWindow))
                return null;
            var now = _time.WallTime();
            var rest = _probe is null ? RestNow() : TimeSpan.Zero;
            return new RememberedBreak(_failure?.Fault, now - since, now + rest, _cooldown, _trips, _passesLeft);
        }
    }

    /// <returns>True if the breaker has closed.</returns>
    internal bool Passed(BreakerProbe probe)
    {
        lock (_gate)
        {
            if (_probe != probe)
                return false;
            _probe = null;
            if (--_passesLeft > 0)
            {
                _restsSince = _time.GetTimestamp() - Ticks(_cooldown);
                return false;
            }

            _failure = null;
            _faults = 0;
        }

        Closed?.Invoke();
        Changed?.Invoke();
        return true;
    }

    internal void Failed(BreakerProbe probe, NntpException failure)
    {
        lock (_gate)
        {
            if (_probe != probe)
                return;
            _probe = null;
            _failure = failure;
            _cooldown = _cooldown * 2 < _longestCooldown ? _cooldown * 2 : _longestCooldown;
            _passesLeft = PassesNeeded;
            _restsSince = _time.GetTimestamp();
        }

        Opened?.Invoke();
        Changed?.Invoke();
    }

    internal void Returned(BreakerProbe probe)
    {
        lock (_gate)
        {
            if (_probe == probe)
                _probe = null;
        }
    }

    private int PassesNeeded => 1 << Math.Min(_trips - 1, MostDoublings);

    // The wall clock may have jumped and stored values may be damaged, so no restored cooldown exceeds an ordinary one.
    private void Restore(RememberedBreak known)
    {
        var (now, utc) = (_time.GetTimestamp(), _time.WallTime());
        if (known.Trips < 1 || utc - known.RestsUntil >= HistoryWindow)
            return;
        _trips = known.Trips;
        _cooldown = Clamp(known.Cooldown, _firstCooldown, _longestCooldown);
        _openedAt = now - Ticks(Clamp(utc - known.OpenedAt, TimeSpan.Zero, HistoryWindow));
        _restsSince = now - Ticks(_cooldown - Clamp(known.RestsUntil - utc, TimeSpan.Zero, _cooldown));
        _passesLeft = Math.Clamp(known.PassesLeft, 1, PassesNeeded);
        _failure = known.Fault is { } fault
            ? new NntpException(fault, "The provider has failed again and again before the server or its settings were changed, and is tried again soon.")
            : null;
    }

    private static TimeSpan Clamp(TimeSpan value, TimeSpan least, TimeSpan most) => value < least ? least : value > most ? most : value;

    private void Trip(NntpException failure)
    {
        var now = _time.GetTimestamp();
        var isFresh = _trips == 0 || _time.GetElapsedTime(_openedAt, now) >= HistoryWindow;
        _trips = isFresh ? 1 : _trips + 1;
        _cooldown = isFresh ? _firstCooldown : _cooldown;
        (_openedAt, _restsSince, _failure, _faults) = (now, now, failure, 0);
        _passesLeft = PassesNeeded;
    }

    private TimeSpan RestNow()
    {
        if (_failure is null)
            return TimeSpan.Zero;
        var rest = _probe is null ? _cooldown - _time.GetElapsedTime(_restsSince) : ProbeLimit - _time.GetElapsedTime(_probeSince);
        return rest > TimeSpan.Zero ? rest : TimeSpan.Zero;
    }

    private long Ticks(TimeSpan span) => (long)(span.TotalSeconds * _time.TimestampFrequency);
}

/// <summary>Permission for one operation while a breaker is not closed. Its owner always disposes it.</summary>
internal sealed class BreakerProbe(CircuitBreaker breaker) : IDisposable
{
    /// <summary>Reports success; true if the breaker has closed.</summary>
    public bool Passed() => breaker.Passed(this);

    public void Failed(NntpException failure) => breaker.Failed(this, failure);

    /// <summary>Returns the probe. Without a verdict, another probe may start at once.</summary>
    public void Dispose() => breaker.Returned(this);
}
