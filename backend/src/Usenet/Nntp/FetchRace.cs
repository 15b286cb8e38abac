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
    private IArticleSink? _sink;
    private FetchTry? _leader;
    private FetchTry? _challenger;
    private long _challengedAt;
    private long _quietSince;
    private bool _isDelivered;

    /// <summary>A fetch begins; both are null at its end.</summary>
    public void Begin(IArticleSink? sink, FetchTry? first)
    {
        lock (_gate)
        {
            (_sink, _leader, _challenger, _isDelivered) = (sink, first, null, false);
            _quietSince = parts.Time.GetTimestamp();
            if (first is not null)
                first.HasLed = true;
        }
    }

    /// <summary>A reader waits from now on. What has been sent is as late as it is; what waits overtakes others only now.</summary>
    /// <returns>How soon the leader could be late.</returns>
    public TimeSpan Await()
    {
        lock (_gate)
        {
            if (_leader is null or { SentAt: 0 })
                _quietSince = parts.Time.GetTimestamp();
            return Patience - parts.Time.GetElapsedTime(_quietSince);
        }
    }

    /// <summary>By a try: a provider is about to be asked.</summary>
    public void Ask(FetchTry attempt, Provider provider)
    {
        lock (_gate)
        {
            attempt.Ask(provider);
            if (attempt == _leader)
                _quietSince = parts.Time.GetTimestamp();
        }
    }

    /// <summary>By a try: a connection is held and the command will be sent.</summary>
    public void Send(FetchTry attempt, ConnectionLease lease)
    {
        lock (_gate)
        {
            var now = parts.Time.GetTimestamp();
            attempt.Send(lease, now);
            if (attempt == _leader)
                _quietSince = now;
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

            var now = parts.Time.GetTimestamp();
            if (!attempt.HasBytes)
            {
                attempt.Provider!.FirstBytes.Observe(parts.Time.GetElapsedTime(attempt.SentAt, now));
                _sink!.Start(attempt.Provider.Index);
            }

            if (attempt.Note(raw.Length, now))
                _quietSince = now;
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

    /// <summary>The leader, if it is late and nobody challenges it.</summary>
    /// <param name="due">How soon to look again.</param>
    public FetchTry? Late(out TimeSpan due)
    {
        lock (_gate)
        {
            var quiet = parts.Time.GetElapsedTime(_quietSince);
            due = quiet < Patience ? Patience - quiet : Patience;
            return quiet < Patience || _isDelivered || _challenger is not null ? null : _leader;
        }
    }

    /// <summary>A second try begins; the late one has the same patience again.</summary>
    public void Challenge(FetchTry challenger)
    {
        lock (_gate)
        {
            _challenger = challenger;
            _challengedAt = _quietSince = parts.Time.GetTimestamp();
            _leader?.Lease?.Suspect(isLate: true);
        }
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

    private TimeSpan Patience => parts.Policy.Patience(_leader?.Provider?.FirstBytes.P95 ?? TimeSpan.Zero);

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
            _leader.Lease?.Suspect(isLate: false);
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
