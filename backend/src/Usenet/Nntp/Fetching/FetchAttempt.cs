using Sluice.Usenet.Nntp.Connections;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>The state of one attempt of a fetch, which asks one provider at a time. Only bytes of the leading attempt reach the sink.</summary>
/// <param name="gate">The fetch's lock. It guards everything except the lease, the wake-up and the members that only the walk uses.</param>
/// <param name="number">Identifies the attempt to its replies.</param>
internal sealed class FetchAttempt(Lock gate, ushort number)
{
    // If articles keep stalling, each move may put the fetch behind another stalled article. After this many moves, the fetch stays until the replies before
    // its own arrive or its connection stalls.
    private const int MostMoves = 8;

    // A fetch also loses its lease if the connection closes or the pool turns all waiters away. Beyond this limit, a lost lease counts as a failure.
    private const int MostPlacesLost = 32;

    // Fewer bytes do not count as progress, because a server that sends one byte a second will not finish.
    private const int MinProgressBytes = 1024;

    // Set by the walk, and used without the lock by threads that raise or abandon the attempt. After setting a field, the walk checks whether either has
    // happened. So either the other thread finds the lease, or the walk notices.
    private volatile ConnectionLease? _lease;
    private volatile TaskCompletionSource? _wake;

    private int _newBytes;
    private int _placesLost;

    public ushort Number => number;

    /// <summary>The current or last provider; null before the first.</summary>
    public Provider? Provider { get; private set; }

    /// <summary>The lease on one of that provider's connections, waiting or held. Only the walk uses it, while it asks the provider.</summary>
    public ConnectionLease Lease => _lease ?? throw new InvalidOperationException("No provider is asked.");

    /// <summary>When that provider was asked, in ticks of the time provider.</summary>
    public long AskedAt { get; private set; }

    /// <summary>Whether this request tests if the provider's replies still fail.</summary>
    public bool IsProbe { get; private set; }

    public bool IsSent { get; private set; }

    /// <summary>When the reply last made progress; 0 if there was none, or none since a fault.</summary>
    public long AliveAt { get; private set; }

    /// <summary>Whether bytes of this reply have reached the sink.</summary>
    public bool HasBytes { get; private set; }

    public bool HasLed { get; set; }

    public bool HasLost { get; private set; }

    /// <summary>Whether the attempt was started because the leader was late.</summary>
    public bool IsChallenge { get; init; }

    /// <summary>Failures at the current provider. Only the walk uses this and the next three properties.</summary>
    public int Failures { get; set; }

    /// <summary>The fault of the last request; null if it was answered.</summary>
    public NntpException? LastFault { get; set; }

    /// <summary>The unconfirmed miss that the walk is checking; null if there is none.</summary>
    public DoubtedMiss? Doubt { get; set; }

    /// <summary>Whether the provider of <see cref="Doubt"/> is asked again.</summary>
    public bool IsAskedAgain { get; set; }

    /// <summary>Whether this attempt gets a connection before prefetches do.</summary>
    public bool IsLate => IsChallenge || _placesLost > 0;

    /// <summary>Whether this attempt may move to another connection if a reply before its own is late.</summary>
    public bool MayMove => _placesLost < MostMoves;

    public bool IsBeaten
    {
        get
        {
            lock (gate)
                return HasLost;
        }
    }

    /// <summary>Counts a lease lost before the reply, so that the same provider is asked again; false if too many were lost.</summary>
    public bool TryLosePlace() => _placesLost < MostPlacesLost && ++_placesLost > 0;

    /// <summary>Whether this provider is asked again because its miss is unconfirmed.</summary>
    public bool AsksAgain(Provider provider) => IsAskedAgain && Doubt?.Provider == provider;

    public void Settled() => (Doubt, IsAskedAgain) = (null, false);

    /// <summary>Begins to ask a provider. The caller owns the lease, which first waits for a connection.</summary>
    public void Ask(Provider provider, ConnectionLease lease, long now, bool isProbe)
    {
        lock (gate)
        {
            (Provider, _lease, AskedAt, IsProbe) = (provider, lease, now, isProbe);
            (IsSent, AliveAt, HasBytes, _newBytes) = (false, 0, false, 0);
        }
    }

    /// <summary>Returns the current progress. Called under <c>gate</c>. <paramref name="isChallenged"/> tells whether a challenger runs.</summary>
    public FetchSnapshot Look(bool isChallenged)
    {
        if (Provider is null || _lease is not { } lease)
            return new FetchSnapshot(FetchStage.Deciding, "", 0, isChallenged);
        var stage = !IsSent ? FetchStage.WaitsForConnection : HasBytes ? FetchStage.Receiving : FetchStage.Asked;
        return new FetchSnapshot(stage, Provider.Options.Name, AskedAt, isChallenged || (IsSent && lease.Load?.IsLate == true));
    }

    /// <summary>Excludes ticks spent waiting for the bandwidth limit, because the provider did not cause them.</summary>
    public void AddPacedTime(long ticks)
    {
        lock (gate)
            AskedAt += ticks;
    }

    public void Send()
    {
        lock (gate)
            IsSent = true;
    }

    public void Leave()
    {
        lock (gate)
            (_lease, AliveAt) = (null, 0);
    }

    /// <summary>Marks the attempt as beaten. Another thread cancels the attempt, because this thread holds the lock.</summary>
    public void Lose()
    {
        HasLost = true;
        ThreadPool.UnsafeQueueUserWorkItem(static attempt => attempt.GiveUp(), this, preferLocal: false);
    }

    /// <summary>Ends all waits. The reason must already be set in the fetch or the attempt. Call under no lock.</summary>
    public void GiveUp()
    {
        _lease?.GiveUp();
        _wake?.TrySetResult();
    }

    public void Raise()
    {
        _lease?.Raise();
        _wake?.TrySetResult();
    }

    /// <summary>Completes at the next <see cref="Raise"/> or <see cref="GiveUp"/>.</summary>
    public Task ToBeWoken()
    {
        var wake = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _wake = wake;

        // The walk reads the urgency next, and that read must not happen before the write above.
        Interlocked.MemoryBarrier();
        return wake.Task;
    }

    /// <summary>Counts bytes that are passed to the sink.</summary>
    public void Note(int bytes, long now)
    {
        _newBytes += bytes;
        if (!HasBytes || _newBytes >= MinProgressBytes)
            (HasBytes, _newBytes, AliveAt) = (true, 0, now);
    }
}
