using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

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
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The probe belongs to whoever asked for it; here it is only compared.")]
internal sealed class CircuitBreaker(TimeProvider time, int tolerated, TimeSpan firstCooldown, TimeSpan longestCooldown)
{
    /// <summary>A probe without a verdict for this long is given up.</summary>
    public static readonly TimeSpan ProbeLimit = TimeSpan.FromSeconds(20);

    private static readonly TimeSpan Forgets = TimeSpan.FromHours(1);
    private const int MostDoublings = 5;

    private readonly Lock _gate = new();
    private BreakerProbe? _probe;
    private NntpException? _failure;
    private TimeSpan _cooldown;
    private long _restsSince;
    private long _probeSince;
    private long _openedAt;
    private int _faults;
    private int _trips;
    private int _passesLeft;

    /// <summary>Raised outside of the lock when the breaker has opened.</summary>
    public event Action? Opened;

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

    /// <summary>What an ordinary operation has come to: a fault. One that began before the breaker opened is no news.</summary>
    /// <param name="failure">What went wrong.</param>
    /// <param name="atOnce">Whether this one says enough by itself.</param>
    public void Failed(NntpException failure, bool atOnce = false)
    {
        lock (_gate)
        {
            if (_failure is not null || (++_faults < tolerated && !atOnce))
                return;
            Trip(failure);
        }

        Opened?.Invoke();
    }

    /// <summary>What an ordinary operation has come to: success.</summary>
    public void Succeeded()
    {
        lock (_gate)
            _faults = 0;
    }

    /// <summary>Asks for the right to one probe while the breaker is not closed.</summary>
    /// <returns>Null when the breaker is closed, still rests, or has a probe under way.</returns>
    public BreakerProbe? TryProbe()
    {
        lock (_gate)
        {
            if (_failure is null || RestNow() > TimeSpan.Zero)
                return null;
            _probeSince = time.GetTimestamp();
            return _probe = new BreakerProbe(this);
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
                _restsSince = time.GetTimestamp() - Ticks(_cooldown);
                return false;
            }

            _failure = null;
            _faults = 0;
            return true;
        }
    }

    internal void Failed(BreakerProbe probe, NntpException failure)
    {
        lock (_gate)
        {
            if (_probe != probe)
                return;
            _probe = null;
            _failure = failure;
            _cooldown = _cooldown * 2 < longestCooldown ? _cooldown * 2 : longestCooldown;
            _passesLeft = PassesNeeded;
            _restsSince = time.GetTimestamp();
        }

        Opened?.Invoke();
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

    private void Trip(NntpException failure)
    {
        var now = time.GetTimestamp();
        var isFresh = _trips == 0 || time.GetElapsedTime(_openedAt, now) >= Forgets;
        _trips = isFresh ? 1 : _trips + 1;
        _cooldown = isFresh ? firstCooldown : _cooldown;
        (_openedAt, _restsSince, _failure, _faults) = (now, now, failure, 0);
        _passesLeft = PassesNeeded;
    }

    private TimeSpan RestNow()
    {
        if (_failure is null)
            return TimeSpan.Zero;
        var rest = _probe is null ? _cooldown - time.GetElapsedTime(_restsSince) : ProbeLimit - time.GetElapsedTime(_probeSince);
        return rest > TimeSpan.Zero ? rest : TimeSpan.Zero;
    }

    private long Ticks(TimeSpan span) => (long)(span.TotalSeconds * time.TimestampFrequency);
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
