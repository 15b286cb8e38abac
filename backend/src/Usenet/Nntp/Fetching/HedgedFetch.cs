using System.Threading.Tasks.Sources;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// One fetch: a walk through the providers, and while a reader waits for it and no byte comes a second walk, which asks another
/// provider or connection. The first good bytes win (F11).
/// </summary>
/// <remarks>
/// <c>_gate</c> guards what the walks, the watch and the reader share. Used for one fetch at a time: what <see cref="RunAsync"/>
/// returns is awaited once, and that gives the object back where nothing was raced.
/// </remarks>
internal sealed class HedgedFetch : IValueTaskSource<ArticleReply>
{
    private readonly FetchParts _parts;
    private readonly FetchRace _race;
    private readonly FetchWalker _first;
    private readonly Action _raised;
    private readonly Lock _gate = new();
    private readonly List<FetchWalker> _second = [];

    private ManualResetValueTaskSourceCore<ArticleReply> _end;
    private ArticleRequest _request;
    private CancellationToken _caller;
    private CancellationTokenRegistration _registration;
    private ProviderWalk _walk;
    private Provider? _deliveredBy;
    private object? _deliveredOver;
    private Exception? _broke;
    private int _walking;
    private bool _isRunning;

    public HedgedFetch(FetchParts parts)
    {
        _parts = parts;
        _race = new FetchRace(parts);
        _first = new FetchWalker(this, parts, _race);
        _raised = _first.Raise;
    }

    /// <summary>What is fetched.</summary>
    public ref readonly ArticleRequest Request => ref _request;

    /// <summary>Fetches the article; called again only after <see cref="FetchParts"/> has taken the object back.</summary>
    public ValueTask<ArticleReply> RunAsync(in ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        _end.Reset();
        lock (_gate)
        {
            (_request, _caller) = (request, cancellationToken);
            _walk = new ProviderWalk(request.Excluded);
            _race.Begin(sink, _first.Attempt);
            (_isRunning, _walking) = (true, 1);
        }

        if (request.Urgency is { } urgency)
            urgency.Raised += _raised;

        var version = _end.Version;
        _registration = cancellationToken.UnsafeRegister(static state => ((HedgedFetch)state!).CancelAll(), this);
        _first.Start(null);
        return new ValueTask<ArticleReply>(this, version);
    }

    /// <summary>By a try: it is late. The article is asked for a second time if that helps.</summary>
    public Lateness BeLate(FetchTry late, bool isSent)
    {
        if (!isSent)
        {
            Look();
            return Lateness.Borne;
        }

        lock (_gate)
        {
            // By now it may fetch something else.
            if (!_isRunning || late.Provider is not { } provider)
                return Lateness.Borne;
            switch (_race.Standing(late))
            {
                case Lateness.Borne when TryChallenge(provider, isSent: true):
                    return Lateness.Raced;
                case Lateness.Left when !late.MayMove || !_parts.Budget.TrySpend():
                    return Lateness.Borne;
                case Lateness.Left:
                    _parts.Meter.Hedged();
                    return Lateness.Left;
                case var standing:
                    return standing;
            }
        }
    }

    /// <summary>By a try that waits behind a late one: takes leave to be asked for elsewhere.</summary>
    public bool TryPayForMove() => _parts.Budget.TryMove();

    /// <summary>By a walk: whom to ask next; null when there is none left.</summary>
    public Provider? TakeNext()
    {
        lock (_gate)
        {
            while (_parts.Next(_request, _walk) is { } next)
            {
                _walk.Asked = _walk.Asked.With(next.Index);
                if (!_parts.IsKnownMiss(_request, next))
                    return next;
                _walk.Missed(next, new ReplyOutcome(NntpResponseCode.NoArticleWithId));
            }

            return null;
        }
    }

    /// <summary>By a walk: a provider does not have the article.</summary>
    public void Missed(Provider provider, ReplyOutcome outcome)
    {
        _parts.Missed(_request, provider);
        lock (_gate)
            _walk.Missed(provider, outcome);
    }

    /// <summary>By a walk: a miss that is not proved, for it to settle; null when there is none left.</summary>
    public DoubtedMiss? TakeDoubt()
    {
        lock (_gate)
            return _walk.TakeDoubt();
    }

    /// <summary>By a walk: a miss that it has not settled.</summary>
    public void Doubt(DoubtedMiss doubt)
    {
        lock (_gate)
            _walk.Doubt(doubt);
    }

    /// <summary>By a walk: a miss was none, or may have been none.</summary>
    public void Unmissed(Provider provider)
    {
        lock (_gate)
            _walk.Unmissed(provider);
    }

    /// <summary>By a walk: a provider could not be asked to the end.</summary>
    public void Faulted(Provider provider, NntpException fault)
    {
        lock (_gate)
            _walk.Faulted(provider, fault);
    }

    /// <summary>By a walk whose try has lost: its provider was late, or was asked in vain because the late one has come to life.</summary>
    public void GiveWay(FetchTry attempt, Provider provider, BreakerProbe? probe)
    {
        if (attempt.HasLed)
        {
            var late = new NntpException(NntpFault.Stalled, "The server sent nothing for too long; the article was asked for elsewhere.");
            provider.Pool.Health.Bodies.Failed(late);
            probe?.Failed(late);
            Faulted(provider, late);
        }
        else if (provider != _first.Attempt.Provider)
        {
            lock (_gate)
                _walk.Asked = _walk.Asked.Without(provider.Index);
        }
    }

    /// <summary>By a walk, as the last thing it does: it has come to its end.</summary>
    /// <param name="walker">Which one.</param>
    /// <param name="deliveredBy">The provider whose article the sink has from it; null when none was left to ask, or another try has won.</param>
    /// <param name="deliveredOver">The connection that it came over; null where none did.</param>
    /// <param name="broke">What ended it otherwise.</param>
    public void Ended(FetchWalker walker, Provider? deliveredBy, object? deliveredOver, Exception? broke)
    {
        // A second walk that was cancelled has lost its race, or its caller: there is more to say about neither.
        if (walker != _first && broke is OperationCanceledException)
            broke = null;
        bool isLast, isDecided;
        lock (_gate)
        {
            if (walker != _first)
                _race.Withdraw(walker.Attempt);
            if (_deliveredBy is null)
                (_deliveredBy, _deliveredOver) = (deliveredBy, deliveredOver);
            _broke ??= broke;
            isLast = --_walking == 0;
            isDecided = _deliveredBy is not null || _broke is not null;
            _isRunning = !isLast && !isDecided;
        }

        if (isLast)
            Finish();
        else if (isDecided)
            CancelAll();
    }

    ArticleReply IValueTaskSource<ArticleReply>.GetResult(short token)
    {
        try
        {
            return _end.GetResult(token);
        }
        finally
        {
            Recycle();
        }
    }

    ValueTaskSourceStatus IValueTaskSource<ArticleReply>.GetStatus(short token) => _end.GetStatus(token);

    void IValueTaskSource<ArticleReply>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _end.OnCompleted(continuation, state, token, flags);

    private void Look()
    {
        lock (_gate)
        {
            if (_isRunning && _race.Waiting() is { Provider: { } provider })
                TryChallenge(provider, isSent: false, isFree: provider.Pool.NoneIsOpen);
        }
    }

    /// <summary>Begins a second walk where there is a provider to ask and leave to do so, under the gate.</summary>
    /// <param name="late">The provider that was asked.</param>
    /// <param name="isSent">Whether its command has been sent.</param>
    /// <param name="isFree">Whether it costs nothing, because no connection is open that could send the article twice.</param>
    private bool TryChallenge(Provider late, bool isSent, bool isFree = false)
    {
        if (ProviderSelector.Rival(_parts.Providers, _walk.Asked, _walk.MissedBackbones, late, isSent) is not { } rival
            || _caller.IsCancellationRequested
            || !(isFree || _parts.Budget.TrySpend()))
            return false;
        _parts.Meter.Hedged();
        if (_request.Urgency is { } urgency)
            urgency.WasLate = true;
        _walk.Asked = _walk.Asked.With(rival.Index);
        var challenger = new FetchWalker(this, _parts, _race);
        _race.Challenge(challenger.Attempt);
        _second.Add(challenger);
        _walking++;
        ThreadPool.UnsafeQueueUserWorkItem(static start => start.challenger.Start(start.rival), (challenger, rival), preferLocal: false);
        return true;
    }

    private void CancelAll()
    {
        FetchWalker[] second;
        lock (_gate)
            second = [.. _second];
        _first.Attempt.Cancel();
        foreach (var walker in second)
            walker.Attempt.Cancel();
    }

    private void Finish()
    {
        _registration.Dispose();
        if (_request.Urgency is { } urgency)
            urgency.Raised -= _raised;

        ArticleReply reply = default;
        if (_caller.IsCancellationRequested)
            _broke = new OperationCanceledException(_caller);
        else if (_broke is null && _deliveredBy is not null)
            reply = ArticleReply.FoundAt(_deliveredBy.Index, _deliveredOver);
        else if (_broke is null)
            _broke = _walk.Conclude(_request.Excluded, out reply);

        // What breaks off may have much in its train, and so may callers who do not say otherwise.
        _end.RunContinuationsAsynchronously = _broke is not null || !_request.ContinuesInline;
        if (_broke is null)
            _end.SetResult(reply);
        else
            _end.SetException(_broke);
    }

    private void Recycle()
    {
        (_request, _caller, _deliveredBy, _deliveredOver, _broke) = (default, default, null, null, null);
        _race.Begin(null, null);
        if (_second.Count == 0 && _first.TryReset())
            _parts.Recycle(this);
    }
}
