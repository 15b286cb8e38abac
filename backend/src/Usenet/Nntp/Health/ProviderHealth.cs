using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>Breakers for a provider's dials, bodies and STAT; separate, because a server may answer STAT but send no body. Misses never count.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderHealth
{
    // A few broken connections are normal. Dials that fail at once are tolerated too, but timeouts are not, because they cost too much time.
    private const int ToleratedReplies = 4;
    private const int ToleratedDials = 3;

    private readonly Guid _provider;
    private readonly ProviderMemory _memory;
    private readonly Lock _gate = new();
    private MessageId _lastDelivered;

    public ProviderHealth(Guid provider, NntpOptions options, ProviderMemory memory, TimeProvider time, RecoverySignal recovery)
    {
        (_provider, _memory) = (provider, memory);
        Dials = Make(BreakerKind.Dials, ToleratedDials);
        Bodies = Make(BreakerKind.Bodies, ToleratedReplies);
        Stats = Make(BreakerKind.Stats, ToleratedReplies);

        CircuitBreaker Make(BreakerKind kind, int tolerated)
        {
            var breaker = new CircuitBreaker(time, tolerated, options.BreakerCooldown, options.BreakerLongestCooldown, memory.BreakOf(provider, kind));
            breaker.Changed += () => memory.RememberBreak(provider, kind, breaker);
            breaker.Closed += recovery.Set;
            return breaker;
        }
    }

    public CircuitBreaker Dials { get; }

    public CircuitBreaker Bodies { get; }

    public CircuitBreaker Stats { get; }

    /// <summary>The failure that forbids a dial now; null if a dial is allowed.</summary>
    public NntpException? Resting => Dials.Rest > TimeSpan.Zero ? Dials.Failure : null;

    /// <summary>The last article the server delivered; empty if none.</summary>
    public MessageId LastDelivered
    {
        get
        {
            lock (_gate)
                return _lastDelivered;
        }
    }

    public void Delivered(MessageId id)
    {
        lock (_gate)
            _lastDelivered = id;
        Bodies.Succeeded();
    }

    public void Configure(NntpOptions options)
    {
        foreach (var breaker in All)
            breaker.Configure(options.BreakerCooldown, options.BreakerLongestCooldown);
    }

    /// <summary>Resets all breakers, because a new login makes the old failures meaningless.</summary>
    public void Forget()
    {
        _memory.ForgetBreaks(_provider);
        foreach (var breaker in All)
            breaker.Forget();
    }

    /// <summary>Restores the breakers of an earlier run, once the memory has been restored.</summary>
    public void Recall()
    {
        Dials.Recall(_memory.BreakOf(_provider, BreakerKind.Dials));
        Bodies.Recall(_memory.BreakOf(_provider, BreakerKind.Bodies));
        Stats.Recall(_memory.BreakOf(_provider, BreakerKind.Stats));
    }

    private CircuitBreaker[] All => [Dials, Bodies, Stats];

    /// <summary>Whether an article request is likely to get through. <paramref name="isConnected"/> tells whether a connection is open.</summary>
    public bool IsReachable(bool isConnected) => (isConnected || Dials.Failure is null) && Bodies.Failure is null;

    public void DialFailed(NntpException failure, BreakerProbe? probe)
    {
        if (probe is not null)
            probe.Failed(failure);
        else
            Dials.Failed(failure, atOnce: failure.Fault is not (NntpFault.ConnectFailed or NntpFault.ConnectionClosed or NntpFault.GreetingRefused));
    }

    /// <summary>Records a successful dial; true if the provider has recovered.</summary>
    public bool DialSucceeded(BreakerProbe? probe)
    {
        if (probe is not null)
            return probe.Passed();
        Dials.Succeeded();
        return false;
    }

    /// <summary>Whether a fault says anything about the provider. Faults caused by this process or its limits do not.</summary>
    public static bool IsTelling(NntpException fault) => fault.Fault is not (NntpFault.GivenUp or NntpFault.Broken or NntpFault.TooManyConnections or NntpFault.NoConnection);
}
