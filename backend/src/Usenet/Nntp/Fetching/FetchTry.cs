using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// One of the at most two tries that bring the article of a fetch at the same time. It stands between its connection and the sink, which
/// takes bytes of the leading try only; the bytes of one that has lost are searched for their end and dropped.
/// </summary>
/// <remarks>All state is guarded by the gate of the race. Cancelling is thread-safe.</remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The source holds neither a timer nor a handle.")]
internal sealed class FetchTry(HedgedFetch fetch, FetchRace race) : IArticleSink, IPendingFetch, IThreadPoolWorkItem
{
    // Fewer bytes are no sign of life: a server that sends one a second will not finish.
    private const int TellingBytes = 1024;

    private readonly CancellationTokenSource _cancellation = new();
    private BodyScanner _scanner = BodyScanner.AtStart;
    private int _untold;

    /// <summary>Ends when the fetch is given up or another try has won.</summary>
    public CancellationToken Token => _cancellation.Token;

    /// <summary>Who is asked.</summary>
    public Provider? Provider { get; private set; }

    /// <summary>Where; null until a connection is held.</summary>
    public ConnectionLease? Lease { get; private set; }

    /// <summary>Whether the command was sent.</summary>
    public bool IsSent { get; private set; }

    /// <summary>When the last sign of life came; 0 for none, or none since a fault.</summary>
    public long AliveAt { get; private set; }

    /// <summary>Whether bytes of this reply have come.</summary>
    public bool HasBytes { get; private set; }

    /// <summary>Whether the sink has ever waited for this try, or taken bytes of it.</summary>
    public bool HasLed { get; set; }

    /// <summary>Whether it goes elsewhere when what is before it does not come. Set by its walk while nothing is sent.</summary>
    public bool MayMove { get; set; }

    /// <summary>Whether another try has won.</summary>
    public bool HasLost { get; private set; }

    public Lock Gate => race.Gate;

    public bool IsBeaten => HasLost;

    public Lateness BeLate(bool isSent) => fetch.BeLate(this, isSent);

    public bool TryMove(bool isPaid)
    {
        if (!MayMove || !(isPaid || fetch.TryPayForMove()))
            return false;
        if (fetch.Request.Urgency is { } urgency)
            urgency.WasLate = true;
        return true;
    }

    /// <summary>A provider is about to be asked.</summary>
    public void Ask(Provider provider)
    {
        (Provider, Lease, IsSent, AliveAt, HasBytes) = (provider, null, false, 0, false);
    }

    /// <summary>A connection is held and the command will be sent.</summary>
    public void Send(ConnectionLease lease)
    {
        (Lease, IsSent) = (lease, true);
    }

    /// <summary>The try does not hold its connection any more.</summary>
    public void Leave() => (Lease, AliveAt) = (null, 0);

    /// <summary>Another try has won. The connection is let go by a thread that holds no lock.</summary>
    public void Lose()
    {
        HasLost = true;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>Bytes have come.</summary>
    public void Note(int bytes, long now)
    {
        _untold += bytes;
        if (HasBytes && _untold < TellingBytes)
            return;
        HasBytes = true;
        _untold = 0;
        AliveAt = now;
    }

    /// <summary>Looks for the end of what is dropped.</summary>
    public bool Drop(ReadOnlySpan<byte> raw, out int consumed) => _scanner.Scan(raw, out consumed);

    /// <summary>Notes how a stretch ended that the sink has taken.</summary>
    public void Skip(ReadOnlySpan<byte> raw) => _scanner.Skip(raw);

    public void Cancel() => _cancellation.Cancel();

    /// <summary>Makes the try fit for another fetch.</summary>
    /// <returns>False when it was cancelled.</returns>
    public bool TryReset()
    {
        Ask(null!);
        return _cancellation.TryReset();
    }

    void IArticleSink.Start(int provider) => race.Start(this);

    bool IArticleSink.Write(ReadOnlySpan<byte> raw, out int consumed) => race.Take(this, raw, out consumed);

    void IThreadPoolWorkItem.Execute() => Cancel();

    /// <summary>A body begins.</summary>
    public void Begin()
    {
        _scanner = BodyScanner.AtStart;
        _untold = 0;
        HasBytes = false;
    }
}
