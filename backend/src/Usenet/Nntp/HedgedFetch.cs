using System.Runtime.CompilerServices;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// One fetch on its way through the providers: a miss is a value and moves on at once, a fault is tried again on another
/// connection of the same provider first. While a reader waits for it and no byte comes, a second try asks another provider or
/// connection, and the first good bytes win (F11).
/// </summary>
/// <remarks>
/// <c>_gate</c> guards what the tries, the watch and the reader share. Used for one fetch at a time; recycled where nothing was
/// raced.
/// </remarks>
internal sealed class HedgedFetch
{
    // A fetch that has had to make room this often is counted as failed like any other.
    private const int MostMoves = 3;

    private readonly FetchParts _parts;
    private readonly FetchRace _race;
    private readonly FetchTry _first;
    private readonly Action _raised;
    private readonly Lock _gate = new();
    private readonly List<(FetchTry Try, Task<Provider?> Outcome)> _second = [];

    private ArticleRequest _request;
    private CancellationToken _caller;
    private ProviderWalk _walk;
    private bool _isRunning;

    public HedgedFetch(FetchParts parts)
    {
        _parts = parts;
        _race = new FetchRace(parts);
        _first = new FetchTry(_race);
        _raised = Watch;
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

    /// <summary>By the watch: asks for the article a second time if it is late.</summary>
    /// <returns>When to look again; null when nobody waits for it.</returns>
    public TimeSpan? Look()
    {
        lock (_gate)
        {
            if (!_isRunning)
                return null;
            if (_race.Late(out var due) is { Provider: { } late } leader
                && ProviderSelector.Rival(_parts.Providers, _walk.Asked, _walk.MissedBackbones, late, leader.SentAt != 0) is { } rival
                && _parts.Budget.TrySpend())
                Challenge(rival);
            return due;
        }
    }

    private void Begin(ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            (_request, _caller) = (request, cancellationToken);
            _walk = new ProviderWalk(request.Excluded);
            _race.Begin(sink, _first);
            _isRunning = true;
        }

        if (request.Urgency is not { } urgency || !_parts.Policy.IsEnabled)
            return;
        urgency.Raised += _raised;
        if (urgency.IsHeadOfLine)
            Watch();
    }

    private void Watch()
    {
        lock (_gate)
        {
            if (_isRunning)
                _parts.Watch.Add(this, _race.Await());
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
            using var probe = provider.Pool.Health.Bodies.TryProbe();
            if (probe is null && ProviderSelector.MustSpare(_parts.Providers, provider) is { } reason)
            {
                Faulted(provider, reason);
                provider = TakeNext();
                continue;
            }

            var started = _parts.Time.GetTimestamp();
            try
            {
                _race.Ask(attempt, provider);
                using var lease = await provider.Pool.LeaseAsync(_request, attempt.Token);
                _race.Send(attempt, lease);
                var outcome = await lease.FetchAsync(attempt, attempt.Token);
                if (!outcome.IsMiss && _race.HasWon(attempt))
                {
                    _parts.Delivered(_request, provider, probe);
                    return provider;
                }

                if (outcome.IsMiss)
                    Missed(provider, outcome.MissCode);
            }
            catch (NntpException error)
            {
                fault = error;
                if (attempt.Lease is not null && ProviderHealth.IsTelling(error))
                    probe?.Failed(error);
            }
            catch (OperationCanceledException) when (attempt.HasLost)
            {
                // Another try has brought the article, or brings it.
            }
            finally
            {
                _race.Leave(attempt);
                _parts.Meter.Fetched(started);
            }

            if (attempt.HasLost)
            {
                GiveWay(attempt, provider, probe);
                return null;
            }

            if (fault?.Fault == NntpFault.GivenUp && moves++ < MostMoves)
                continue;
            if (fault is { IsTransient: true } && !provider.Pool.IsUnreachable && failures++ < _parts.Options.RetriesPerProvider)
                continue;
            if (fault is not null)
                Faulted(provider, fault);
            provider = TakeNext();
            failures = 0;
        }

        return null;
    }

    private Provider? TakeNext()
    {
        lock (_gate)
        {
            while (_parts.Next(_request, _walk) is { } next)
            {
                _walk.Asked = _walk.Asked.With(next.Index);
                if (!_parts.IsKnownMiss(_request, next))
                    return next;
                _walk.Missed(next, NntpResponseCode.NoArticleWithId);
            }

            return null;
        }
    }

    private void Missed(Provider provider, int code)
    {
        _parts.Missed(_request, provider);
        lock (_gate)
            _walk.Missed(provider, code);
    }

    private void Faulted(Provider provider, NntpException fault)
    {
        lock (_gate)
            _walk.Faulted(provider, fault);
    }

    /// <summary>A try has lost: its provider was late, or was asked in vain because the late one has come to life.</summary>
    private void GiveWay(FetchTry attempt, Provider provider, BreakerProbe? probe)
    {
        if (attempt.HasLed)
        {
            var late = new NntpException(NntpFault.Stalled, "The server sent nothing for too long; the article was asked for elsewhere.");
            provider.Pool.Health.Bodies.Failed(late);
            probe?.Failed(late);
            Faulted(provider, late);
        }
        else if (provider != _first.Provider)
            Forget(provider);
    }

    private void Forget(Provider provider)
    {
        lock (_gate)
            _walk.Asked = _walk.Asked.Without(provider.Index);
    }

    /// <summary>Begins a second try, under the gate.</summary>
    private void Challenge(Provider rival)
    {
        _parts.Meter.Hedged();
        if (_request.Urgency is { } urgency)
            urgency.WasLate = true;
        _walk.Asked = _walk.Asked.With(rival.Index);
        var challenger = new FetchTry(_race);
        _race.Challenge(challenger);
        _second.Add((challenger, ChallengeAsync(challenger, rival)));
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
            _race.Withdraw(attempt);
        }
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
        (_request, _caller) = (default, default);
        _race.Begin(null, null);
        if (_second.Count == 0 && _first.TryReset())
            _parts.Recycle(this);
    }
}
