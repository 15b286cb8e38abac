using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// One fetch on its way through the providers. While a reader waits for it and no byte comes, it is raced: a second try asks
/// another provider or connection, and the first good bytes win (F11). The sink only ever takes bytes of one try, the leader.
/// </summary>
/// <remarks>
/// <c>_gate</c> guards everything that tries, the watch and the reader share. It is taken below the gate of a reply, and
/// above those of a pool and the watch. Used for one fetch at a time; recycled where nothing was raced.
/// </remarks>
internal sealed class HedgedFetch
{
    // A fetch that has had to make room this often is counted as failed like any other.
    private const int MostMoves = 3;

    private readonly FetchParts _parts;
    private readonly Lock _gate = new();
    private readonly Action _raised;
    private readonly FetchTry _first;
    private readonly List<(FetchTry Try, Task<Provider?> Outcome)> _second = [];

    private ArticleRequest _request;
    private IArticleSink? _sink;
    private CancellationToken _caller;
    private ProviderWalk _walk;
    private FetchTry _leader;
    private FetchTry? _challenger;
    private long _challengedAt;
    private long _quietSince;
    private bool _isRunning;
    private bool _isDelivered;

    public HedgedFetch(FetchParts parts)
    {
        _parts = parts;
        _first = _leader = new FetchTry(this);
        _raised = WatchFromNowOn;
    }

    /// <summary>Fetches the article; called again only after <see cref="FetchParts"/> has taken the object back.</summary>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<ArticleReply> RunAsync(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        Begin(request, sink, cancellationToken);
        try
        {
            Provider? provider;
            await using (cancellationToken.UnsafeRegister(static state => ((FetchTry)state!).Cancel(), _first))
                provider = await WalkAsync(_first, null);
            for (var i = 0; provider is null && SecondTry(i) is { } outcome; i++)
                provider = await outcome;

            cancellationToken.ThrowIfCancellationRequested();
            return provider is null ? _walk.Conclude(request.Excluded) : ArticleReply.FoundAt(provider.Index);
        }
        finally
        {
            Stop();
            foreach (var (_, outcome) in _second)
                await outcome;
            Recycle();
        }
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

            var now = _parts.Time.GetTimestamp();
            if (!attempt.HasBytes)
            {
                attempt.Provider!.FirstBytes.Observe(_parts.Time.GetElapsedTime(attempt.SentAt, now));
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

    /// <summary>By the watch: asks for the article a second time if it is late.</summary>
    /// <returns>When to look again; null when nobody waits for it.</returns>
    public TimeSpan? Look()
    {
        lock (_gate)
        {
            if (!_isRunning || _isDelivered || _leader.Provider is not { } late)
                return null;
            var patience = _parts.Policy.Patience(late.FirstBytes.P95);
            var quiet = _parts.Time.GetElapsedTime(_quietSince);
            if (quiet < patience)
                return patience - quiet;
            if (_challenger is null
                && ProviderSelector.Rival(_parts.Providers, _walk.Asked, _walk.MissedBackbones, late, _leader.SentAt != 0) is { } rival
                && _parts.Budget.TrySpend())
                Challenge(rival);
            return patience;
        }
    }

    private void Begin(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            (_request, _sink, _caller) = (request, sink, cancellationToken);
            _walk = new ProviderWalk(request.Excluded);
            _leader = _first;
            _isRunning = true;
            _isDelivered = false;
        }

        if (request.Urgency is not { } urgency || !_parts.Policy.IsEnabled)
            return;
        urgency.Raised += _raised;
        if (urgency.IsHeadOfLine)
            WatchFromNowOn();
    }

    private void WatchFromNowOn()
    {
        lock (_gate)
        {
            if (!_isRunning)
                return;

            // What has been sent is as late as it is; what waits overtakes others only from now on.
            if (_leader.SentAt == 0)
                _quietSince = _parts.Time.GetTimestamp();
            var patience = _parts.Policy.Patience(_leader.Provider?.FirstBytes.P95 ?? TimeSpan.Zero);
            _parts.Watch.Add(this, patience - _parts.Time.GetElapsedTime(_quietSince));
        }
    }

    /// <summary>Asks one provider after the other.</summary>
    /// <param name="attempt">The try that asks.</param>
    /// <param name="provider">Who is asked first; null for the next that has not been asked.</param>
    /// <returns>The provider that has delivered; null when there is none left, or another try has won.</returns>
    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<Provider?> WalkAsync(FetchTry attempt, Provider? provider)
    {
        provider ??= TakeNext();
        for (var (failures, moves) = (0, 0); provider is not null;)
        {
            NntpException? fault = null;
            var started = _parts.Time.GetTimestamp();
            try
            {
                Ask(attempt, provider);
                using var lease = await provider.Pool.LeaseAsync(_request, attempt.Token);
                Send(attempt, lease);
                var outcome = await lease.FetchAsync(attempt, attempt.Token);
                if (!outcome.IsMiss && HasWon(attempt))
                    return provider;
                if (outcome.IsMiss)
                    Missed(provider, outcome.MissCode);
            }
            catch (NntpException error)
            {
                fault = error;
            }
            catch (OperationCanceledException) when (attempt.HasLost)
            {
                fault = new NntpException(NntpFault.Stalled, "The server sent nothing for too long; the article was asked for elsewhere.");
            }
            finally
            {
                Leave(attempt);
                _parts.Meter.Fetched(started);
            }

            if (fault?.Fault == NntpFault.GivenUp && moves++ < MostMoves)
                continue;
            if (!attempt.HasLost && fault is { IsTransient: true } && provider.Pool.Health.Resting is null && failures++ < _parts.Options.RetriesPerProvider)
                continue;
            if (fault is not null)
                Faulted(provider, fault);
            if (attempt.HasLost)
                return null;
            provider = TakeNext();
            failures = 0;
        }

        return null;
    }

    private Provider? TakeNext()
    {
        lock (_gate)
        {
            var next = ProviderSelector.Next(_parts.Providers, _walk.Asked, _walk.MissedBackbones);
            if (next is not null)
                _walk.Asked = _walk.Asked.With(next.Index);
            return next;
        }
    }

    private void Ask(FetchTry attempt, Provider provider)
    {
        lock (_gate)
        {
            attempt.Ask(provider);
            if (attempt == _leader)
                _quietSince = _parts.Time.GetTimestamp();
        }
    }

    private void Send(FetchTry attempt, ConnectionLease lease)
    {
        lock (_gate)
        {
            var now = _parts.Time.GetTimestamp();
            lease.IsBeaten = attempt.HasLost;
            attempt.Send(lease, now);
            if (attempt == _leader)
                _quietSince = now;
        }
    }

    private void Leave(FetchTry attempt)
    {
        lock (_gate)
            attempt.Leave();
    }

    private bool HasWon(FetchTry attempt)
    {
        lock (_gate)
        {
            if (attempt.HasLost)
                return false;
            _parts.Budget.Fetched();
            return true;
        }
    }

    private void Missed(Provider provider, int code)
    {
        lock (_gate)
            _walk.Missed(provider, code);
    }

    private void Faulted(Provider provider, NntpException fault)
    {
        lock (_gate)
            _walk.Faulted(provider, fault);
    }

    /// <summary>Begins a second try, under the gate.</summary>
    private void Challenge(Provider rival)
    {
        _parts.Meter.Hedged();
        _leader.Lease?.Suspect(isLate: true);
        _walk.Asked = _walk.Asked.With(rival.Index);
        _challengedAt = _quietSince = _parts.Time.GetTimestamp();
        _challenger = new FetchTry(this);
        _second.Add((_challenger, ChallengeAsync(_challenger, rival)));
    }

    private async Task<Provider?> ChallengeAsync(FetchTry attempt, Provider rival)
    {
        await Task.Yield();
        await using var registration = _caller.UnsafeRegister(static state => ((FetchTry)state!).Cancel(), attempt);
        try
        {
            return await WalkAsync(attempt, rival);
        }
        catch (OperationCanceledException) when (attempt.Token.IsCancellationRequested)
        {
            // The fetch has been given up, or has its article.
            return null;
        }
        finally
        {
            lock (_gate)
            {
                if (_challenger == attempt)
                    _challenger = null;
            }
        }
    }

    /// <summary>Whether the sink takes the bytes of a try; with the first good ones a challenger becomes the leader.</summary>
    private bool MayLead(FetchTry attempt)
    {
        if (attempt.HasLost || !_isRunning || _isDelivered)
            return false;
        if (attempt == _leader)
            return true;

        if (_leader.AliveAt > _challengedAt)
        {
            // The article that was late comes in again; what it has delivered already is worth more than a new beginning.
            _challenger = null;
            _leader.Lease?.Suspect(isLate: false);
            _walk.Asked = _leader.Provider == attempt.Provider ? _walk.Asked : _walk.Asked.Without(attempt.Provider!.Index);
            attempt.Lose();
            return false;
        }

        _parts.Meter.HedgeWon();
        _leader.Lose();
        _leader = attempt;
        _challenger = null;
        return true;
    }

    private Task<Provider?>? SecondTry(int index)
    {
        lock (_gate)
            return index < _second.Count ? _second[index].Outcome : null;
    }

    private void Stop()
    {
        lock (_gate)
            _isRunning = false;
        if (_request.Urgency is { } urgency)
        {
            urgency.Raised -= _raised;
            _parts.Watch.Remove(this);
        }

        foreach (var (attempt, _) in _second)
            attempt.Cancel();
    }

    private void Recycle()
    {
        (_request, _sink, _caller) = (default, null, default);
        if (_second.Count == 0 && _first.TryReset())
            _parts.Recycle(this);
    }
}
