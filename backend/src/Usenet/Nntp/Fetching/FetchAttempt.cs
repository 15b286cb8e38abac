using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// One attempt of a fetch to get its article, from one provider at a time. It stands between the reply and the sink, which takes bytes of the
/// leading attempt only; the bytes of one that has lost are searched for their end and dropped.
/// </summary>
/// <remarks>Read and changed under the gate of the fetch, but for what is of the walk alone, the lease and the wake-up call.</remarks>
internal sealed class FetchAttempt(ArticleFetch fetch) : IArticleSink, IPendingFetch
{
    // Where articles stall all the time, each move ends behind the next that stalls: a fetch that has made room this often waits
    // where it is, until what is before it comes or its connection has stalled.
    private const int MostMoves = 8;

    // It can lose its place even so: its connection is given up, or its pool sends all that wait away. By then that is a failure like any other.
    private const int MostPlacesLost = 32;

    // Fewer bytes are no sign of life: a server that sends one a second will not finish.
    private const int TellingBytes = 1024;

    // Set by the walk, and used without the gate by threads that hurry the attempt or give it up. The walk looks only afterwards whether it
    // was hurried or has ended: either such a thread finds what the walk has set, or the walk learns what the thread has come for.
    private volatile ConnectionLease? _lease;
    private volatile TaskCompletionSource? _wake;

    private BodyScanner _scanner = BodyScanner.AtStart;
    private int _untold;
    private int _placesLost;

    /// <inheritdoc/>
    public Lock Gate => fetch.Gate;

    /// <summary>The provider that is asked, or was asked last; null before.</summary>
    public Provider? Provider { get; private set; }

    /// <summary>The wait for a connection of that provider, and then the right to it. Of the walk alone, while it asks.</summary>
    public ConnectionLease Lease => _lease ?? throw new InvalidOperationException("No provider is asked.");

    /// <summary>Since when, in ticks of the time provider.</summary>
    public long AskedAt { get; private set; }

    /// <summary>Whether the provider is asked to find out if its replies still fail.</summary>
    public bool IsProbe { get; private set; }

    /// <summary>Whether the command was sent.</summary>
    public bool IsSent { get; private set; }

    /// <summary>When the last sign of life came; 0 for none, or none since a fault.</summary>
    public long AliveAt { get; private set; }

    /// <summary>Whether bytes of this reply have come.</summary>
    public bool HasBytes { get; private set; }

    /// <summary>Whether the sink has ever waited for this attempt, or taken bytes of it.</summary>
    public bool HasLed { get; set; }

    /// <summary>Whether another attempt has won.</summary>
    public bool HasLost { get; private set; }

    /// <summary>Whether it was begun because the leader was late.</summary>
    public bool IsChallenge { get; init; }

    /// <summary>Failures of the provider that is asked. Of the walk alone, like the next three.</summary>
    public int Failures { get; set; }

    /// <summary>How the last question has failed; null when it was answered.</summary>
    public NntpException? LastFault { get; set; }

    /// <summary>The miss that is being settled; null for none.</summary>
    public DoubtedMiss? Doubt { get; set; }

    /// <summary>Whether its provider is asked again for it.</summary>
    public bool IsAskedAgain { get; set; }

    /// <summary>Whether it overtakes what is fetched ahead.</summary>
    public bool IsLate => IsChallenge || _placesLost > 0;

    /// <summary>Whether it goes elsewhere when what is before it does not come.</summary>
    public bool MayMove => _placesLost < MostMoves;

    /// <inheritdoc/>
    public bool IsBeaten
    {
        get
        {
            lock (Gate)
                return HasLost;
        }
    }

    /// <summary>The connection or the pool has sent the attempt away before its command was answered: it asks the same provider again.</summary>
    /// <returns>False when that has happened too often.</returns>
    public bool TryLosePlace() => _placesLost < MostPlacesLost && ++_placesLost > 0;

    /// <summary>Whether a provider is asked because its miss is not proved.</summary>
    public bool AsksAgain(Provider provider) => IsAskedAgain && Doubt?.Provider == provider;

    /// <summary>There is no miss to be settled any more.</summary>
    public void Settled() => (Doubt, IsAskedAgain) = (null, false);

    /// <summary>A provider is about to be asked.</summary>
    /// <param name="provider">The next one of the walk.</param>
    /// <param name="lease">The wait for a connection of it, and then the right to it; lent.</param>
    /// <param name="now">In ticks of the time provider.</param>
    /// <param name="isProbe">Whether that is to find out if its replies still fail.</param>
    public void Ask(Provider provider, ConnectionLease lease, long now, bool isProbe)
    {
        lock (Gate)
        {
            if (Provider is not null)
                fetch.NoteAskedAgain();
            (Provider, _lease, AskedAt, IsProbe, IsSent, AliveAt, HasBytes) = (provider, lease, now, isProbe, false, 0, false);
        }
    }

    /// <summary>How it gets on. Under the gate.</summary>
    /// <param name="isChallenged">Whether the article was asked for elsewhere as well.</param>
    public FetchSnapshot Look(bool isChallenged)
    {
        if (Provider is null || _lease is not { } lease)
            return new FetchSnapshot(FetchStage.Deciding, "", 0, isChallenged);
        var stage = !IsSent ? FetchStage.WaitsForConnection : HasBytes ? FetchStage.Receiving : FetchStage.Asked;
        return new FetchSnapshot(stage, Provider.Options.Name, AskedAt, isChallenged || (IsSent && lease.Connection?.Load.IsLate == true));
    }

    /// <summary>A part of the wait was for the limit of bandwidth, which is none for the provider.</summary>
    /// <param name="ticks">Of the time provider.</param>
    public void WasPaced(long ticks)
    {
        lock (Gate)
            AskedAt += ticks;
    }

    /// <summary>The command is about to be sent.</summary>
    public void Send()
    {
        lock (Gate)
            IsSent = true;
    }

    /// <summary>The question has ended.</summary>
    public void Leave()
    {
        lock (Gate)
            (_lease, AliveAt) = (null, 0);
    }

    /// <summary>Another attempt has won. This one is given up by a thread that does not hold the gate.</summary>
    public void Lose()
    {
        HasLost = true;
        ThreadPool.UnsafeQueueUserWorkItem(static attempt => attempt.GiveUp(), this, preferLocal: false);
    }

    /// <summary>Ends all waits, once it stands in the fetch or in here why. Under no lock.</summary>
    public void GiveUp()
    {
        _lease?.GiveUp();
        _wake?.TrySetResult();
    }

    /// <summary>A reader has come to wait for the article.</summary>
    public void Raise()
    {
        _lease?.Raise();
        _wake?.TrySetResult();
    }

    /// <summary>Ends with the next call of <see cref="Raise"/> or <see cref="GiveUp"/>.</summary>
    public Task ToBeWoken()
    {
        var wake = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _wake = wake;

        // The walk reads the urgency next, and must not have read it before.
        Interlocked.MemoryBarrier();
        return wake.Task;
    }

    /// <summary>Bytes have come that the sink takes.</summary>
    public void Note(int bytes, long now)
    {
        _untold += bytes;
        if (!HasBytes || _untold >= TellingBytes)
            (HasBytes, _untold, AliveAt) = (true, 0, now);
    }

    /// <summary>Looks for the end of what is dropped.</summary>
    public bool Drop(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);

    /// <summary>Notes how a stretch ended that the sink has taken.</summary>
    public void Skip(ReadOnlySpan<byte> raw) => _scanner.Skip(raw);

    /// <inheritdoc/>
    public Lateness BeLate(bool isSent) => fetch.BeLate(this, isSent);

    /// <inheritdoc/>
    public bool TryMove(bool isPaid) => fetch.TryMove(this, isPaid);

    void IArticleSink.Start(int provider) => (_scanner, _untold, HasBytes) = (BodyScanner.AtStart, 0, false);

    bool IArticleSink.Write(ReadOnlySpan<byte> raw, out int consumed) => fetch.Take(this, raw, out consumed);
}
