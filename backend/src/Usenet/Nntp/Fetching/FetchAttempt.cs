using Sluice.Usenet.Nntp.Connections;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>The state of one attempt of a fetch, at one provider at a time. The sink takes bytes of the leading attempt only.</summary>
/// <param name="gate">The gate of the fetch. It guards everything except the lease, the wake-up and the members used by the walk alone.</param>
/// <param name="number">Identifies the attempt to its replies.</param>
internal sealed class FetchAttempt(Lock gate, ushort number)
{
    // If articles stall all the time, each move ends behind another stalled article. After this many moves a fetch stays until the replies before it arrive
    // or its connection stalls.
    private const int MostMoves = 8;

    // A fetch also loses its lease if its connection closes or its pool dismisses all waiters. Beyond this limit, a lost lease counts as a failure.
    private const int MostPlacesLost = 32;

    // Fewer bytes are no progress, because a server that sends one a second will not finish.
    private const int MinProgressBytes = 1024;

    // Set by the walk, and used without the gate by threads that raise or abandon the attempt. The walk checks for both after it has set them. So either that
    // thread finds the lease, or the walk notices the raise or the end.
    private volatile ConnectionLease? _lease;
    private volatile TaskCompletionSource? _wake;

    private int _newBytes;
    private int _placesLost;

    public ushort Number => number;

    /// <summary>The current or last provider; null before the first.</summary>
    public Provider? Provider { get; private set; }

    /// <summary>The lease for a connection of that provider, waiting or held. Used by the walk alone, while it asks.</summary>
    public ConnectionLease Lease => _lease ?? throw new InvalidOperationException("No provider is asked.");

    /// <summary>When that provider was asked, in ticks of the time provider.</summary>
    public long AskedAt { get; private set; }

    /// <summary>Whether the provider is asked to test if its replies still fail.</summary>
    public bool IsProbe { get; private set; }

    public bool IsSent { get; private set; }

    /// <summary>When the reply last made progress; 0 if there was none, or none since a fault.</summary>
    public long AliveAt { get; private set; }

    /// <summary>Whether bytes of this reply have reached the sink.</summary>
    public bool HasBytes { get; private set; }

    public bool HasLed { get; set; }

    public bool HasLost { get; private set; }

    /// <summary>Whether it was started because the leader was late.</summary>
    public bool IsChallenge { get; init; }

    /// <summary>Failures at the current provider. Used by the walk alone, like the next three properties.</summary>
    public int Failures { get; set; }

    /// <summary>The fault of the last request; null if it was answered.</summary>
    public NntpException? LastFault { get; set; }

    /// <summary>The unproved miss that the walk settles; null if there is none.</summary>
    public DoubtedMiss? Doubt { get; set; }

    /// <summary>Whether the provider of <see cref="Doubt"/> is asked again.</summary>
    public bool IsAskedAgain { get; set; }

    /// <summary>Whether this attempt gets a connection before prefetches do.</summary>
    public bool IsLate => IsChallenge || _placesLost > 0;

    /// <summary>Whether this attempt may move when a reply before its own is late.</summary>
    public bool MayMove => _placesLost < MostMoves;

    public bool IsBeaten
    {
        get
        {
            lock (gate)
                return HasLost;
        }
    }

    /// <summary>Counts a lease lost before the reply, so that the same provider is asked again; false if it happened too often.</summary>
    public bool TryLosePlace() => _placesLost < MostPlacesLost && ++_placesLost > 0;

    /// <summary>Whether this provider is asked again because its miss is not proved.</summary>
    public bool AsksAgain(Provider provider) => IsAskedAgain && Doubt?.Provider == provider;

    public void Settled() => (Doubt, IsAskedAgain) = (null, false);

    /// <summary>Begins to ask a provider. The lease is lent and waits for a connection first.</summary>
    public void Ask(Provider provider, ConnectionLease lease, long now, bool isProbe)
    {
        lock (gate)
        {
            (Provider, _lease, AskedAt, IsProbe) = (provider, lease, now, isProbe);
            (IsSent, AliveAt, HasBytes, _newBytes) = (false, 0, false, 0);
        }
    }

    /// <summary>The current progress. Under the gate. <paramref name="isChallenged"/> tells whether a challenger runs.</summary>
    public FetchSnapshot Look(bool isChallenged)
    {
        if (Provider is null || _lease is not { } lease)
            return new FetchSnapshot(FetchStage.Deciding, "", 0, isChallenged);
        var stage = !IsSent ? FetchStage.WaitsForConnection : HasBytes ? FetchStage.Receiving : FetchStage.Asked;
        return new FetchSnapshot(stage, Provider.Options.Name, AskedAt, isChallenged || (IsSent && lease.Load?.IsLate == true));
    }

    /// <summary>Excludes ticks spent on the bandwidth limit, because the provider did not cause them.</summary>
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

    /// <summary>Marks the attempt as beaten. Another thread cancels it, because this one holds the gate.</summary>
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

    /// <summary>Counts bytes that go to the sink.</summary>
    public void Note(int bytes, long now)
    {
        _newBytes += bytes;
        if (!HasBytes || _newBytes >= MinProgressBytes)
            (HasBytes, _newBytes, AliveAt) = (true, 0, now);
    }
}
