using System.Runtime.ExceptionServices;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// Fetches one article. Attempts ask one provider after another, until one delivers or none is left. If an attempt is late, a challenger
/// hedges it at another provider or connection, and the first good bytes win (F11).
/// </summary>
/// <remarks>
/// Each instance serves one fetch. <see cref="Gate"/> guards the state that the attempts share. Their replies use the same lock, so it alone decides whose
/// bytes reach the sink. The locks of pools and of the sink may be taken under it, but nothing is awaited, canceled or completed under it.
/// </remarks>
internal sealed class ArticleFetch : IPendingFetch, IUrgent
{
    // If a miss stays unconfirmed for this long, the article is requested again on an exclusive connection; at once if a reader waits.
    private static readonly TimeSpan ProofWait = TimeSpan.FromSeconds(1);

    private readonly FetchServices _services;
    private readonly IArticleSink _sink;
    private readonly ArticleRequest _request;
    private readonly CancellationToken _cancellationToken;

    // Guarded by Gate. _asked holds the providers that must not be asked (again). _isTaken: the sink has received the whole article. _isOver: the leader has
    // delivered, or an attempt has failed for good.
    private ProviderSet _asked;
    private ProviderWalk? _walk;
    private FetchAttempt _leader;
    private FetchAttempt? _challenger;
    private bool _isTaken;
    private bool _wasOwed;
    private bool _isOver;
    private NntpConnection? _deliveredOver;
    private Exception? _broke;

    // The challengers, oldest first, with their walks, which never fail. Replaced under Gate, but read without it by Raise. Raise may miss a new challenger,
    // but that challenger requests its lease later, and the pool then checks the urgency.
    private volatile (FetchAttempt Attempt, Task Walk, long BegunAt)[] _challenges = [];

    // When a reader began to wait, in ticks of the time provider; long.MaxValue if none waits. Raise writes it without the lock.
    private long _awaitedSince = long.MaxValue;

    // The sink is not called after RunAsync has ended.
    public ArticleFetch(FetchServices services, in ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        (_services, _request, _sink, _cancellationToken) = (services, request, sink, cancellationToken);
        _asked = services.Outside(request);
        _leader = First = new FetchAttempt(Gate, number: 0) { HasLed = true };
    }

    public Lock Gate { get; } = new();
    public FetchAttempt First { get; }

    private ProviderWalk Walk => _walk ??= new ProviderWalk();

    private FetchAttempt Attempt(int number) => number == 0 ? First : _challenges[number - 1].Attempt;

    public ValueTask<ArticleReply> RunAsync()
    {
        _request.Urgency?.Follow(this);
        if (_request.Urgency?.IsHeadOfLine == true)
            Volatile.Write(ref _awaitedSince, _services.Time.GetTimestamp());
        return new ValueTask<ArticleReply>(WalkAsync(First, provider: null));
    }

    public FetchSnapshot? Look()
    {
        lock (Gate)
            return _leader.Look(_challenger is not null);
    }

    public bool IsBeaten(int attempt) => Attempt(attempt).IsBeaten;

    /// <summary>Handles a late attempt: starts a challenger if that can help.</summary>
    public Lateness OnLate(int attempt, bool isSent)
    {
        lock (Gate)
        {
            var late = Attempt(attempt);
            if (_isOver || late.Provider is null)
                return Lateness.Tolerated;
            if (!isSent)
            {
                if (WaitsForLong() && _leader.Provider is { } provider)
                    TryChallenge(provider, isSent, isFree: provider.Pool.Snapshot.Open == 0);
                return Lateness.Tolerated;
            }

            if (!_isTaken && MustLeave(late))
                return Lateness.Abandoned;
            if (late == _leader)
                return _isTaken || _challenger is not null || TryChallenge(late.Provider, isSent) ? Lateness.Raced : Lateness.Tolerated;
            if (!late.MayMove || !_services.Budget.TrySpend())
                return Lateness.Tolerated;
            _services.Meter.Hedged();
            return Lateness.Abandoned;
        }
    }

    /// <summary>Whether an attempt behind a late reply may use another connection or provider, although the article may then arrive twice.</summary>
    public bool TryMove(int attempt, bool isPaid)
    {
        var moving = Attempt(attempt);
        if (!moving.MayMove || !(isPaid || MustLeave(moving) || _services.Budget.TryMove()))
            return false;
        MarkLate();
        return true;
    }

    /// <summary>Receives reply bytes of an attempt. They reach the sink if the attempt leads, or takes the lead now. Called under <see cref="Gate"/>.</summary>
    public bool? Write(int attempt, ReadOnlySpan<byte> raw, out int consumed)
    {
        consumed = 0;
        var from = Attempt(attempt);
        if (!MayLead(from))
            return null;
        if (!from.HasBytes)
            _sink.Start(from.Provider!.Index);
        from.Note(raw.Length, _services.Time.GetTimestamp());
        return _isTaken = _sink.Write(raw, out consumed);
    }

    /// <summary>Minimum bytes still to come for the attempt whose bytes reach the sink. Called under <see cref="Gate"/>.</summary>
    public long StillToCome(int attempt) => !_isTaken && Attempt(attempt) is { HasBytes: true } from && from == _leader ? _sink.StillToCome : 0;

    /// <summary>
    /// Lets an attempt ask one provider after another. After a miss it asks the next one at once; a fault is first retried over another connection of the same
    /// provider. Any other exception ends the whole fetch.
    /// </summary>
    /// <returns>The reply of the fetch for the first attempt; nothing for a challenger.</returns>
    /// <remarks>
    /// One method for both kinds of attempts, with few locals, because each waiting article keeps an object that holds all locals. The steps:
    /// 1. Choose the next provider; if none is left, one whose miss is unconfirmed.
    /// 2. Skip a provider whose breaker is open, because it may only be asked after all others.
    /// 3. Prepare a lease, unless the fetch has ended meanwhile.
    /// 4. Wait for a connection.
    /// 5. Send BODY and read its reply: deliver a body, record a miss.
    /// 6. Release the lease.
    /// 7. Stop if the fetch has ended; otherwise choose between a retry and another provider, and repeat.
    /// 8. End the attempt. The first attempt waits for the challengers and concludes the fetch.
    /// </remarks>
    private async Task<ArticleReply> WalkAsync(FetchAttempt attempt, Provider? provider)
    {
        // Assigned after the last await, so that the object kept for a waiting article has no field for it.
        Exception? broke;
        try
        {
            while (true)
            {
                provider ??= TakeNext() ?? await NextDoubtedAsync(attempt); // Step 1.
                if (provider is null)
                    break;

                using var probe = provider.Pool.Health.Bodies.TryProbe(isNeeded: _request.Lane == OperationLane.Playback); // Step 2.
                var fault = probe is null ? _services.MustSpare(_request, provider) : null;
                if (fault is not null)
                {
                    LeaveProvider(attempt, provider, fault);
                    provider = null;
                    continue;
                }

                Ask(attempt, provider, isProbe: probe is not null);

                // Step 3. If the fetch ended before this point, it had no lease to cancel.
                if (HasEnded(attempt))
                    break;
                try
                {
                    await LeaseAsync(attempt, provider); // Step 4.
                    LeaveOutPaced(attempt);
                    _cancellationToken.ThrowIfCancellationRequested();
                    if (WaitedInSilence(attempt, provider))
                        throw new NntpException(NntpFault.Stalled, "The server sent nothing while the article waited for a connection.");

                    attempt.Send(); // Step 5.
                    var outcome = await attempt.Lease.FetchAsync(_cancellationToken);
                    if (outcome.IsMiss)
                        Missed(attempt, provider, outcome);
                    else if (TryDeliver(attempt))
                        _services.Delivered(_request, provider, probe);
                }
                catch (NntpException error)
                {
                    fault = attempt.IsSent ? error : error.BeforeAsked();
                }
                catch (OperationCanceledException) when (attempt.IsBeaten)
                {
                    // Another attempt has delivered the article, or is delivering it.
                }
                catch (OperationCanceledException) when (attempt.AsksAgain(provider) && !HasEnded(attempt) && !_cancellationToken.IsCancellationRequested)
                {
                    // The miss was confirmed or refuted while the attempt waited for a connection.
                    attempt.IsAskedAgain = false;
                }
                finally
                {
                    Leave(attempt, probe, fault); // Step 6.
                }

                if (attempt.IsBeaten)
                    GiveWay(attempt, provider, probe);

                if (HasEnded(attempt)) // Step 7.
                    break;
                provider = RetryOrNext(attempt, provider, fault);
            }

            broke = null;
        }
        catch (Exception error)
        {
            broke = error;
        }

        End(attempt, broke); // Step 8.
        if (attempt != First)
            return default;
        await SettleAsync();
        return Conclude();
    }

    /// <summary>Returns the next provider in order that may have the article; null if none is left.</summary>
    private Provider? TakeNext()
    {
        lock (Gate)
        {
            while (_services.Next(_request, _asked, _walk) is { } next)
            {
                _asked = _asked.With(next.Index);
                if (!_services.IsKnownMiss(_request, next))
                    return next;
                Walk.Missed(next, new ReplyOutcome(NntpResponseCode.NoArticleWithId));
            }

            return null;
        }
    }

    /// <summary>
    /// Called when no other provider is left. A miss counts only once its connection is known to answer in order. Otherwise that provider is asked once more on
    /// an exclusive connection, where no other reply can be mistaken for the answer. Null if no miss is in doubt any more.
    /// </summary>
    private async Task<Provider?> NextDoubtedAsync(FetchAttempt attempt)
    {
        while ((attempt.Doubt ??= TakeDoubt()) is { } doubt)
        {
            await AwaitProofAsync(attempt, doubt.Proof.Settled);
            if (doubt.Proof.IsRefuted)
            {
                lock (Gate)
                    Walk.Unmissed(doubt.Provider);
            }

            if (!doubt.Proof.IsProved && !attempt.IsAskedAgain)
            {
                attempt.IsAskedAgain = true;
                return doubt.Provider;
            }

            if (doubt.Proof.IsRefuted && attempt.LastFault is { } fault)
                Faulted(doubt.Provider, fault);
            attempt.Settled();
        }

        return null;
    }

    private DoubtedMiss? TakeDoubt()
    {
        lock (Gate)
            return _walk?.TakeDoubt();
    }

    /// <summary>Gives a connection a moment to confirm its miss, unless a reader waits. After a second request, waits until the miss is decided.</summary>
    private async ValueTask AwaitProofAsync(FetchAttempt attempt, Task settled)
    {
        while (!settled.IsCompleted)
        {
            var woken = attempt.ToBeWoken();
            if (HasEnded(attempt))
                throw new OperationCanceledException();
            if (!attempt.IsAskedAgain && _request.Urgency?.IsHeadOfLine == true)
                return;
            try
            {
                await Task.WhenAny(settled, woken).WaitAsync(attempt.IsAskedAgain ? Timeout.InfiniteTimeSpan : ProofWait, _services.Time, _cancellationToken);
            }
            catch (TimeoutException)
            {
                return;
            }
        }
    }

    /// <summary>Prepares a lease at a provider. A separate method, because the walk would otherwise keep copies of its arguments across awaits.</summary>
    private void Ask(FetchAttempt attempt, Provider provider, bool isProbe)
    {
        if (attempt.Provider is not null && _request.Urgency is { } urgency)
            urgency.WasAskedAgain = true;
        var isAlone = attempt.AsksAgain(provider);
        var request = _request with { IsLate = isAlone || attempt.IsLate, IsAlone = isAlone };
        attempt.Ask(provider, new ConnectionLease(request, this, attempt.Number), _services.Time.GetTimestamp(), isProbe);
    }

    private ValueTask LeaseAsync(FetchAttempt attempt, Provider provider) => attempt.AsksAgain(provider)
        ? new ValueTask(LeaseAloneAsync(attempt.Doubt!, attempt.Lease))
        : provider.Pool.LeaseAsync(attempt.Lease, _cancellationToken);

    /// <summary>Waits for an exclusive connection, unless the miss is confirmed or refuted first.</summary>
    private async Task LeaseAloneAsync(DoubtedMiss doubt, ConnectionLease lease)
    {
        var settled = doubt.Proof.Settled;
        var leasing = doubt.Provider.Pool.LeaseAsync(lease, _cancellationToken).AsTask();
        if (!settled.IsCompleted && await Task.WhenAny(leasing, settled) != leasing)
            lease.GiveUp();
        await leasing;
    }

    /// <summary>Excludes time spent waiting for the bandwidth limit from the waits of reader and attempt, because it is no reason for a hedge.</summary>
    private void LeaveOutPaced(FetchAttempt attempt)
    {
        if (attempt.Lease.PacedFor is not (> 0 and var paced))
            return;
        attempt.AddPacedTime(paced);
        if (Volatile.Read(ref _awaitedSince) is var since and not long.MaxValue)
            Volatile.Write(ref _awaitedSince, Math.Min(since + paced, _services.Time.GetTimestamp()));
    }

    private void Missed(FetchAttempt attempt, Provider provider, ReplyOutcome outcome)
    {
        // The command was alone on its connection, so the miss is certainly its reply.
        if (attempt.AsksAgain(provider))
            attempt.Settled();
        _services.Missed(_request, provider);
        lock (Gate)
            Walk.Missed(provider, outcome);
    }

    private bool TryDeliver(FetchAttempt attempt)
    {
        lock (Gate)
        {
            if (attempt != _leader)
                return false;
            (_deliveredOver, _isOver) = (attempt.Lease.Connection, true);
            return true;
        }
    }

    /// <summary>Chooses after a miss or a fault: the same provider again, or another one out of order. Null for the next in order.</summary>
    private Provider? RetryOrNext(FetchAttempt attempt, Provider provider, NntpException? fault)
    {
        if (fault?.Fault == NntpFault.GivenUp && provider.Pool.IsMute && !attempt.AsksAgain(provider))
            return PutOff(provider) ?? provider;
        if (fault?.Fault == NntpFault.GivenUp && attempt.TryLosePlace())
            return provider;

        // The reader has already waited through one stall, so a provider not asked yet comes before a retry (F10).
        var other = fault?.Fault == NntpFault.Stalled ? TakeNext() : null;
        if (other is null && fault is { IsTransient: true } && !provider.Pool.IsUnreachable && attempt.Failures++ < _services.Options.RetriesPerProvider)
            return provider;
        LeaveProvider(attempt, provider, fault);
        return other;
    }

    /// <summary>Postpones a provider that does not answer a dial, and returns another one to ask first. Null if no other can be reached.</summary>
    private Provider? PutOff(Provider mute)
    {
        lock (Gate)
        {
            if (_services.Next(_request, _asked, _walk) is not { } other || ProviderSelector.IsResting(other, mayProbe: false))
                return null;
            _asked = _asked.Without(mute.Index);
        }

        return TakeNext();
    }

    private void LeaveProvider(FetchAttempt attempt, Provider provider, NntpException? fault)
    {
        if (fault is not null)
            Faulted(provider, fault);
        (attempt.LastFault, attempt.Failures) = (fault, 0);
    }

    private void Faulted(Provider provider, NntpException fault)
    {
        lock (Gate)
            Walk.Faulted(provider, fault);
    }

    /// <summary>Ends one request and returns the lease. A fault that says something about the provider fails its probe.</summary>
    private void Leave(FetchAttempt attempt, BreakerProbe? probe, NntpException? fault)
    {
        attempt.Lease.Dispose();
        if (attempt.IsSent && fault is not null && ProviderHealth.IsTelling(fault))
            probe?.Failed(fault);
        attempt.Leave();
        _services.Meter.Fetched(attempt.AskedAt);
    }

    /// <summary>Handles a lost race: the provider was late, or it was asked needlessly because the late provider recovered.</summary>
    private void GiveWay(FetchAttempt attempt, Provider provider, BreakerProbe? probe)
    {
        if (attempt.HasLed)
        {
            var late = new NntpException(NntpFault.Stalled, "The server sent nothing for too long; the article was requested elsewhere.");
            provider.Pool.Health.Bodies.Failed(late);
            probe?.Failed(late);
            Faulted(provider, late);
        }
        else if (provider != First.Provider)
        {
            lock (Gate)
                _asked = _asked.Without(provider.Index);
        }
    }

    private bool HasEnded(FetchAttempt attempt)
    {
        lock (Gate)
            return _isOver || attempt.HasLost;
    }

    /// <summary>Ends an attempt. If the attempt delivered or failed for good, the other attempts end too.</summary>
    private void End(FetchAttempt attempt, Exception? broke)
    {
        lock (Gate)
        {
            if (attempt.Doubt is { } unsettled)
                Walk.Doubt(unsettled);
            if (_challenger == attempt)
                _challenger = null;

            // A losing attempt has nothing to report, and a caller that cancels gets its own exception below.
            if (broke is not null && !(broke is OperationCanceledException && (attempt != First || attempt.HasLost)))
                (_broke, _isOver) = (_broke ?? broke, true);
            if (!_isOver)
                return;
        }

        // No challenger can start from here on.
        First.GiveUp();
        foreach (var (challenger, _, _) in _challenges)
            challenger.GiveUp();
    }

    /// <summary>Returns the walk of the challenger at an index; null if there is none, and then no more can start.</summary>
    private Task? NextChallenge(int index)
    {
        lock (Gate)
        {
            if (index < _challenges.Length)
                return _challenges[index].Walk;
            _isOver = true;
            return null;
        }
    }

    /// <summary>Waits for the challengers, and switches to another thread unless the continuation may run on this one.</summary>
    private async Task SettleAsync()
    {
        for (var i = 0; NextChallenge(i) is { } challenge; i++)
            await challenge;
        _request.Urgency?.Unfollow(this);

        // Only the short continuation after a delivery may run in the read loop. Other continuations may do more work, so they run on another thread.
        if (_deliveredOver is null || !_request.ContinuesInline)
            await Task.Yield();
    }

    private ArticleReply Conclude()
    {
        _cancellationToken.ThrowIfCancellationRequested();
        if (_broke is not null)
            ExceptionDispatchInfo.Throw(_broke);
        if (_deliveredOver is not null)
            return ArticleReply.FoundAt(_leader.Provider!.Index, _deliveredOver.Identity);
        if (Walk.Conclude(_request.Excluded, _services.LeavesAny(_asked, Walk), out var reply) is { } fault)
            ExceptionDispatchInfo.Throw(fault);
        return reply;
    }

    /// <summary>Called when a reader starts to wait. Does not take the fetch's lock, because readers hold locks that its sink takes.</summary>
    public void Raise()
    {
        Volatile.Write(ref _awaitedSince, _services.Time.GetTimestamp());
        First.Raise();
        foreach (var (challenger, _, _) in _challenges)
            challenger.Raise();
    }

    /// <summary>Whether the leader, and any challenger, have waited too long for a connection. Called under <see cref="Gate"/>.</summary>
    private bool WaitsForLong()
    {
        if (_isTaken || _leader.IsSent || _challenger is { IsSent: true })
            return false;
        var since = _challenger is null ? _leader.AskedAt : Math.Max(_leader.AskedAt, _challenges[^1].BegunAt);
        return _services.Time.GetElapsedTime(since) >= _services.Options.HedgeWait;
    }

    /// <summary>Whether a reader has waited so long for a connection that another stall would be too much (F10), and another provider is left.</summary>
    private bool WaitedInSilence(FetchAttempt attempt, Provider provider)
    {
        var since = Math.Max(attempt.AskedAt, provider.Pool.Line.Silences.HeardAt);
        if (_request.Urgency?.IsHeadOfLine != true || _services.Time.GetElapsedTime(since) < _services.Options.PlaybackStall / 3)
            return false;
        lock (Gate)
            return _services.Next(_request, _asked, _walk) is not null;
    }

    /// <summary>
    /// Grants a reader its one free hedge after half the stall timeout, because the other half plus a second silence would be too long (F10). One hedge per
    /// article is too rare to add much traffic. Called under <see cref="Gate"/>.
    /// </summary>
    private bool TryTakeOwedHedge()
    {
        var since = Volatile.Read(ref _awaitedSince);
        if (_wasOwed || since == long.MaxValue || _services.Time.GetElapsedTime(since) < _services.Options.PlaybackStall / 2)
            return false;
        return _wasOwed = true;
    }

    /// <summary>
    /// Whether the provider's replies keep failing while other providers respond. A race is then pointless, and asking elsewhere costs no extra traffic. A
    /// probe stays, because it has to show whether the provider responds.
    /// </summary>
    private bool MustLeave(FetchAttempt attempt) =>
        attempt is { Provider: { } provider, IsProbe: false } && _services.MustSpare(_request, provider) is not null;

    /// <summary>Starts a challenger if a provider and the budget allow it; free if no copy can arrive twice. Called under <see cref="Gate"/>.</summary>
    private bool TryChallenge(Provider late, bool isSent, bool isFree = false)
    {
        if (_services.Rival(_request, _asked, _walk, late, isSent) is not { } rival
            || _cancellationToken.IsCancellationRequested
            || !(isFree || TryTakeOwedHedge() || _services.Budget.TrySpend()))
            return false;
        _services.Meter.Hedged();
        MarkLate();
        _asked = _asked.With(rival.Index);
        var challenger = new FetchAttempt(Gate, (ushort)(_challenges.Length + 1)) { IsChallenge = true };
        _challenger = challenger;
        _challenges = [.. _challenges, (challenger, Task.Run(() => WalkAsync(challenger, rival)), _services.Time.GetTimestamp())];
        return true;
    }

    /// <summary>Marks the fetch as late, because the article may arrive twice and its duration says nothing about the line.</summary>
    private void MarkLate()
    {
        if (_request.Urgency is { } urgency)
            (urgency.WasLate, urgency.WasAskedAgain) = (true, true);
    }

    /// <summary>Whether the sink accepts this attempt's bytes: it leads, or began after the leader's last progress. Called under <see cref="Gate"/>.</summary>
    private bool MayLead(FetchAttempt attempt)
    {
        if (attempt.HasLost || _isOver)
            return false;
        if (attempt == _leader)
            return !_isTaken;

        _challenger = null;
        if (_isTaken || _leader.AliveAt > _challenges[^1].BegunAt)
        {
            // The late article is arriving again, and continuing it is cheaper than a restart.
            attempt.Lose();
            return false;
        }

        _services.Meter.HedgeWon();
        _leader.Lose();
        _leader = attempt;
        attempt.HasLed = true;
        return true;
    }
}
