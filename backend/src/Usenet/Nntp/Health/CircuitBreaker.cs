using System.Diagnostics.CodeAnalysis;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>Where a breaker stands.</summary>
internal enum BreakerState
{
    /// <summary>Everything goes through.</summary>
    Closed,

    /// <summary>Nothing goes through before the cooldown is over.</summary>
    Open,

    /// <summary>One probe is under way.</summary>
    HalfOpen,
}

/// <summary>
/// Keeps fetches away from what fails again and again, and lets a probe through after a cooldown of 5 s, doubled up to 60 s. A
/// breaker that has opened several times within an hour asks for more probes in a row before it closes, so that a provider
/// that works now and then cannot make it flap (F13). Misses are no news here: they are not told at all.
/// </summary>
/// <remarks>
/// Thread-safe. A probe is a token with one owner, who returns it by disposing it, with a verdict or without one; a token that
/// is kept for too long is void, so that nothing sticks half-open.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The probe belongs to the operation that asked for it; here it is only compared.")]
internal sealed class CircuitBreaker
{
    /// <summary>A probe without a verdict for this long is given up.</summary>
    public static readonly TimeSpan ProbeLimit = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan LeastRest = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan Forgets = TimeSpan.FromHours(1);
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

    /// <param name="time">Clock.</param>
    /// <param name="tolerated">Faults in a row after which it opens.</param>
    /// <param name="firstCooldown">How long it rests at first.</param>
    /// <param name="longestCooldown">How long at most.</param>
    /// <param name="known">Where an earlier one for the same stood; null for none.</param>
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

    /// <summary>Raised outside of the lock when there is something new to remember.</summary>
    public event Action? Changed;

    public BreakerState State
    {
        get
        {
            lock (_gate)
                return _failure is null ? BreakerState.Closed : _probe is null ? BreakerState.Open : BreakerState.HalfOpen;
        }
    }

    /// <summary>Why nothing goes through; null while everything does.</summary>
    public NntpException? Failure
    {
        get
        {
            lock (_gate)
                return _failure;
        }
    }

    /// <summary>How soon a probe may go through; zero when it may now or when everything may.</summary>
    public TimeSpan Rest
    {
        get
        {
            lock (_gate)
                return RestNow();
        }
    }

    /// <summary>Says how long it rests from now on, at first and at most.</summary>
    public void Configure(TimeSpan firstCooldown, TimeSpan longestCooldown)
    {
        lock (_gate)
        {
            (_firstCooldown, _longestCooldown) = (firstCooldown, longestCooldown);
            _cooldown = _failure is null ? _cooldown : Clamp(_cooldown, firstCooldown, longestCooldown);
        }
    }

    /// <summary>Everything goes through from now on, whatever has happened before; a probe under way is void.</summary>
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

    /// <summary>Takes up where an earlier breaker for the same stood, unless this one has opened itself.</summary>
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

    /// <summary>What an ordinary operation has come to: a fault. One that began before the breaker opened is no news.</summary>
    /// <param name="failure">What went wrong.</param>
    /// <param name="atOnce">Whether this one says enough by itself.</param>
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

    /// <summary>What an ordinary operation has come to: success.</summary>
    public void Succeeded()
    {
        lock (_gate)
            _faults = 0;
    }

    /// <summary>Asks for the right to one probe while the breaker is not closed.</summary>
    /// <param name="atOnce">Does not wait for the end of the rest: it is asked how the provider stands.</param>
    /// <param name="isNeeded">A reader waits for what no other provider has: one second of rest is enough.</param>
    /// <returns>Null when the breaker is closed, still rests, or has a probe under way.</returns>
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

    /// <summary>Where it stands, in a form that outlives the process; null when there is nothing to remember.</summary>
    public RememberedBreak? Remember()
    {
        lock (_gate)
        {
            var since = _time.GetElapsedTime(_openedAt);
            if (_trips == 0 || (_failure is null && since >= Forgets))
                return null;
            var now = _time.WallTime();
            var rest = _probe is null ? RestNow() : TimeSpan.Zero;
            return new RememberedBreak(_failure?.Fault, now - since, now + rest, _cooldown, _trips, _passesLeft);
        }
    }

    /// <returns>True when everything goes through again.</returns>
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

    // Times of the wall may have jumped, and what was stored may be damaged: nothing rests longer than it would by itself.
    private void Restore(RememberedBreak known)
    {
        var (now, utc) = (_time.GetTimestamp(), _time.WallTime());
        if (known.Trips < 1 || utc - known.RestsUntil >= Forgets)
            return;
        _trips = known.Trips;
        _cooldown = Clamp(known.Cooldown, _firstCooldown, _longestCooldown);
        _openedAt = now - Ticks(Clamp(utc - known.OpenedAt, TimeSpan.Zero, Forgets));
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
        var isFresh = _trips == 0 || _time.GetElapsedTime(_openedAt, now) >= Forgets;
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

/// <summary>The right to one operation while a breaker is not closed. One owner, who disposes it whatever happens.</summary>
internal sealed class BreakerProbe(CircuitBreaker breaker) : IDisposable
{
    /// <summary>The operation has succeeded.</summary>
    /// <returns>True when the breaker is closed again.</returns>
    public bool Passed() => breaker.Passed(this);

    /// <summary>The operation has failed.</summary>
    public void Failed(NntpException failure) => breaker.Failed(this, failure);

    /// <summary>Returns the token; without a verdict before, another probe may go at once.</summary>
    public void Dispose() => breaker.Returned(this);
}
