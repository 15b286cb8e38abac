namespace Sluice.Usenet.Nntp;

/// <summary>
/// Whose bytes the sink of one fetch takes. One try leads from the start; while it is late a challenger may take its place with
/// the first good bytes, and whoever has lost is cancelled. Two tries never write to the sink at a time.
/// </summary>
/// <remarks>
/// <c>_gate</c> guards everything in here and the state of the tries. It is taken below the gates of a reply and of the fetch,
/// and above the lock of a pool.
/// </remarks>
internal sealed class FetchRace(FetchParts parts)
{
    private readonly Lock _gate = new();

    /// <summary>That of all replies of the fetch.</summary>
    public Lock Gate => _gate;

    private IArticleSink? _sink;
    private FetchTry? _leader;
    private FetchTry? _challenger;
    private long _challengedAt;
    private long _waitsSince;
    private bool _isDelivered;

    /// <summary>A fetch begins; both are null at its end.</summary>
    public void Begin(IArticleSink? sink, FetchTry? first)
    {
        lock (_gate)
        {
            (_sink, _leader, _challenger, _isDelivered) = (sink, first, null, false);
            if (first is not null)
                first.HasLed = true;
        }
    }

    /// <summary>By a try: a provider is about to be asked.</summary>
    public void Ask(FetchTry attempt, Provider provider)
    {
        lock (_gate)
        {
            attempt.Ask(provider);
            if (attempt == _leader)
                _waitsSince = parts.Time.GetTimestamp();
        }
    }

    /// <summary>By a try: a connection is held and the command will be sent.</summary>
    public void Send(FetchTry attempt, ConnectionLease lease)
    {
        lock (_gate)
        {
            attempt.Send(lease);
        }
    }

    /// <summary>By a try: its connection is given back.</summary>
    public void Leave(FetchTry attempt)
    {
        lock (_gate)
            attempt.Leave();
    }

    /// <summary>By a try: a body begins.</summary>
    public void Start(FetchTry attempt)
    {
        lock (_gate)
            attempt.Begin();
    }

    /// <summary>By a try: bytes have come. The sink takes them if the try leads, or may lead from now on.</summary>
    public bool Take(FetchTry attempt, ReadOnlySpan<byte> raw, out int consumed)
    {
        lock (_gate)
        {
            if (!MayLead(attempt))
                return attempt.Drop(raw, out consumed);

            if (!attempt.HasBytes)
                _sink!.Start(attempt.Provider!.Index);
            attempt.Note(raw.Length, parts.Time.GetTimestamp());
            var ended = _sink!.Write(raw, out consumed);
            if (!ended)
                attempt.Skip(raw);
            _isDelivered = ended;
            return ended;
        }
    }

    /// <summary>By a try whose reply has ended: whether the sink has the article from it.</summary>
    public bool HasWon(FetchTry attempt)
    {
        lock (_gate)
            return !attempt.HasLost;
    }

    /// <summary>The leader, if it has waited for a connection for too long, and so has its challenger where there is one.</summary>
    public FetchTry? Waiting()
    {
        lock (_gate)
        {
            var waited = parts.Time.GetElapsedTime(_challenger is null ? _waitsSince : Math.Max(_waitsSince, _challengedAt));
            if (waited < parts.Options.HedgeWait)
                return null;

            return _isDelivered || _challenger is { IsSent: true } || _leader is not { IsSent: false } leader ? null : leader;
        }
    }

    /// <summary>Where a try stands that is late.</summary>
    /// <returns>Borne: it leads and may be challenged; Raced: it leads and is challenged already; Left: it does not lead.</returns>
    public Lateness Standing(FetchTry late)
    {
        lock (_gate)
        {
            if (late != _leader)
                return Lateness.Left;
            return _isDelivered || _challenger is not null ? Lateness.Raced : Lateness.Borne;
        }
    }

    /// <summary>A second try begins.</summary>
    public void Challenge(FetchTry challenger)
    {
        lock (_gate)
            (_challenger, _challengedAt) = (challenger, parts.Time.GetTimestamp());
    }

    /// <summary>A second try has ended.</summary>
    public void Withdraw(FetchTry challenger)
    {
        lock (_gate)
        {
            if (_challenger == challenger)
                _challenger = null;
        }
    }

    private bool MayLead(FetchTry attempt)
    {
        if (attempt.HasLost || _leader is null || _isDelivered)
            return false;
        if (attempt == _leader)
            return true;

        _challenger = null;
        if (_leader.AliveAt > _challengedAt)
        {
            // The article that was late comes in again; what it has delivered already is worth more than a new beginning.
            attempt.Lose();
            return false;
        }

        parts.Meter.HedgeWon();
        _leader.Lose();
        _leader = attempt;
        attempt.HasLed = true;
        return true;
    }
}
