using Sluice.Usenet.Nzb;

namespace Sluice.Usenet.Nntp.Health;

/// <summary>
/// Whether a provider can be used: dialled, asked for bodies, asked about articles, each for itself, for a server may answer
/// STAT and send no body. Misses never count here.
/// </summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class ProviderHealth
{
    // One broken connection in a while is nothing; dials that fail at once may be bad luck too, those that time out cost too much.
    private const int ToleratedReplies = 4;
    private const int ToleratedDials = 3;

    private readonly Guid _provider;
    private readonly ProviderMemory _memory;
    private readonly Lock _gate = new();
    private MessageId _lastDelivered;

    /// <param name="provider">Under which the memory keeps its breakers.</param>
    /// <param name="options">How long it is left alone.</param>
    /// <param name="memory">What has been learned before.</param>
    /// <param name="time">Clock.</param>
    /// <param name="recovery">Told when the provider can be used again.</param>
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

    /// <summary>Connecting and logging in.</summary>
    public CircuitBreaker Dials { get; }

    /// <summary>BODY.</summary>
    public CircuitBreaker Bodies { get; }

    /// <summary>STAT.</summary>
    public CircuitBreaker Stats { get; }

    /// <summary>Why no connection can be opened now, or null when one may be tried.</summary>
    public NntpException? Resting => Dials.Rest > TimeSpan.Zero ? Dials.Failure : null;

    /// <summary>An article that the server has; empty while it has delivered none.</summary>
    public MessageId LastDelivered
    {
        get
        {
            lock (_gate)
                return _lastDelivered;
        }
    }

    /// <summary>A body has come whole.</summary>
    public void Delivered(MessageId id)
    {
        lock (_gate)
            _lastDelivered = id;
        Bodies.Succeeded();
    }

    /// <summary>The settings have changed: how long the provider is left alone from now on.</summary>
    public void Configure(NntpOptions options)
    {
        foreach (var breaker in All)
            breaker.Configure(options.BreakerCooldown, options.BreakerLongestCooldown);
    }

    /// <summary>Another login is used from now on: how the old one failed says nothing any more.</summary>
    public void Forget()
    {
        _memory.ForgetBreaks(_provider);
        foreach (var breaker in All)
            breaker.Forget();
    }

    /// <summary>The memory has been restored: takes up the breakers of an earlier run.</summary>
    public void Recall()
    {
        Dials.Recall(_memory.BreakOf(_provider, BreakerKind.Dials));
        Bodies.Recall(_memory.BreakOf(_provider, BreakerKind.Bodies));
        Stats.Recall(_memory.BreakOf(_provider, BreakerKind.Stats));
    }

    private CircuitBreaker[] All => [Dials, Bodies, Stats];

    /// <summary>Whether articles can be asked for, as far as is known.</summary>
    /// <param name="isConnected">Whether a connection is open.</param>
    public bool IsReachable(bool isConnected) => (isConnected || Dials.Failure is null) && Bodies.Failure is null;

    /// <summary>A dial has failed.</summary>
    public void DialFailed(NntpException failure, BreakerProbe? probe)
    {
        if (probe is not null)
            probe.Failed(failure);
        else
            Dials.Failed(failure, atOnce: failure.Fault is not (NntpFault.ConnectFailed or NntpFault.ConnectionClosed or NntpFault.GreetingRefused));
    }

    /// <summary>A dial has succeeded.</summary>
    /// <returns>True when the provider can be dialled again after it could not be.</returns>
    public bool DialSucceeded(BreakerProbe? probe)
    {
        if (probe is not null)
            return probe.Passed();
        Dials.Succeeded();
        return false;
    }

    /// <summary>Whether a fault says anything about how a provider answers.</summary>
    public static bool IsTelling(NntpException fault) => fault.Fault is not (NntpFault.GivenUp or NntpFault.Broken or NntpFault.TooManyConnections or NntpFault.NoConnection);
}
