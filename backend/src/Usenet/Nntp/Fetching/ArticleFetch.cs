using System.Runtime.ExceptionServices;
using Sluice.Usenet.Nntp.Connections;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Fetching;

/// <summary>
/// One fetch: asks one provider after the other until one delivers the article or none is left. While the attempt that does so is late, a
/// second one challenges it at another provider or connection, and the first good bytes win (F11).
/// </summary>
/// <remarks>
/// Made for one fetch and forgotten after it. <see cref="Gate"/> guards what the attempts share and what they know of each other; being the
/// lock of their replies too, it decides alone whose bytes the sink takes. The locks of pools and of the sink are taken below it, and
/// nothing is awaited, given up or completed under it.
/// </remarks>
internal sealed class ArticleFetch : IUrgent
{
    // A miss that is not proved by then is asked for again, alone on a connection; at once where a reader waits.
    private static readonly TimeSpan ProofWait = TimeSpan.FromSeconds(1);

    private readonly FetchServices _services;
    private readonly IArticleSink _sink;
    private readonly ArticleRequest _request;
    private readonly CancellationToken _cancellationToken;
    private readonly FetchAttempt _first;

    // Guarded by Gate. Asked are the providers that will not be asked (again). Taken is the article whose end the sink has seen; over is the
    // fetch once the leader has delivered, or an attempt has broken off.
    private ProviderSet _asked;
    private ProviderWalk? _walk;
    private FetchAttempt _leader;
    private FetchAttempt? _challenger;
    private bool _isTaken;
    private bool _wasOwed;
    private bool _isOver;
    private NntpConnection? _deliveredOver;
    private Exception? _broke;

    // The challengers in their order, with their walks, which never fail. Replaced under Gate, and read without it by Raise. A challenger that Raise does not
    // see yet asks for its connection later, and the pool looks at the urgency then.
    private volatile (FetchAttempt Attempt, Task Walk, long BegunAt)[] _challenges = [];

    // Since when a reader waits, in ticks of the time provider; the largest value while none does. Written by Raise without the gate.
    private long _awaitedSince = long.MaxValue;

    /// <param name="services">Shared by the fetches of a pool of providers.</param>
    /// <param name="request">What is fetched.</param>
    /// <param name="sink">Takes the article; not called any more when <see cref="RunAsync"/> has ended.</param>
    /// <param name="cancellationToken">Gives the fetch up.</param>
    public ArticleFetch(FetchServices services, in ArticleRequest request, IArticleSink sink, CancellationToken cancellationToken)
    {
        (_services, _request, _sink, _cancellationToken) = (services, request, sink, cancellationToken);
        _asked = request.SparesBackups ? request.Excluded.Or(services.Backups) : request.Excluded;
        _leader = _first = new FetchAttempt(this) { HasLed = true };
    }

    /// <summary>Orders the attempts, and the bytes of their replies.</summary>
    public Lock Gate { get; } = new();

    private ProviderWalk Walk => _walk ??= new ProviderWalk();

    /// <summary>Fetches the article. Called once.</summary>
    public ValueTask<ArticleReply> RunAsync()
    {
        _request.Urgency?.Follow(this);
        if (_request.Urgency?.IsHeadOfLine == true)
            Volatile.Write(ref _awaitedSince, _services.Time.GetTimestamp());
        return new ValueTask<ArticleReply>(WalkAsync(_first, provider: null));
    }

    /// <inheritdoc/>
    public FetchSnapshot? Look()
    {
        lock (Gate)
            return _leader.Look(_challenger is not null);
    }

    /// <summary>By an attempt, under the gate: a provider is asked after another, or once more.</summary>
    public void NoteAskedAgain()
    {
        if (_request.Urgency is { } urgency)
            urgency.WasAskedAgain = true;
    }

    /// <summary>By an attempt: it is late. The article is asked for a second time if that helps.</summary>
    public Lateness BeLate(FetchAttempt late, bool isSent)
    {
        lock (Gate)
        {
            if (_isOver || late.Provider is null)
                return Lateness.Borne;
            if (!isSent)
            {
                if (WaitsForLong() && _leader.Provider is { } provider)
                    TryChallenge(provider, isSent, isFree: provider.Pool.Snapshot.Open == 0);
                return Lateness.Borne;
            }

            if (!_isTaken && MustLeave(late))
                return Lateness.Left;
            if (late == _leader)
                return _isTaken || _challenger is not null || TryChallenge(late.Provider, isSent) ? Lateness.Raced : Lateness.Borne;
            if (!late.MayMove || !_services.Budget.TrySpend())
                return Lateness.Borne;
            _services.Meter.Hedged();
            return Lateness.Left;
        }
    }

    /// <summary>By an attempt that waits behind a late reply: whether it may ask elsewhere, which may bring the article twice.</summary>
    public bool TryMove(FetchAttempt attempt, bool isPaid)
    {
        if (!attempt.MayMove || !(isPaid || MustLeave(attempt) || _services.Budget.TryMove()))
            return false;
        MarkLate();
        return true;
    }

    /// <summary>By an attempt, under the gate: bytes of its reply have come. The sink takes them if it leads, or may lead from now on.</summary>
    public bool Take(FetchAttempt attempt, ReadOnlySpan<byte> raw, out int consumed)
    {
        if (!MayLead(attempt))
            return attempt.Drop(raw, out consumed);
        if (!attempt.HasBytes)
            _sink.Start(attempt.Provider!.Index);
        attempt.Note(raw.Length, _services.Time.GetTimestamp());
        _isTaken = _sink.Write(raw, out consumed);
        if (!_isTaken)
            attempt.Skip(raw);
        return _isTaken;
    }

    /// <summary>
    /// Takes an attempt from provider to provider: a miss is a value and moves on at once, a fault is tried again on another connection of
    /// the same provider first. What breaks an attempt off breaks off the fetch.
    /// </summary>
    /// <param name="attempt">The attempt.</param>
    /// <param name="provider">The provider to ask first; null: the first in their order.</param>
    /// <returns>
    /// For the first attempt the end of the fetch. One method for both, which keeps little over its waits: what waits is an object per article,
    /// with all that it keeps.
    /// </returns>
    private async Task<ArticleReply> WalkAsync(FetchAttempt attempt, Provider? provider)
    {
        Exception? broke;
        try
        {
            while (true)
            {
                provider ??= TakeNext() ?? await NextDoubtedAsync(attempt);
                if (provider is null)
                    break;

                // Providers that rest come after all others: none of those has the article.
                using var probe = provider.Pool.Health.Bodies.TryProbe(isNeeded: _request.Lane == OperationLane.Playback);
                var fault = probe is null ? ProviderSelector.MustSpare(_services.Providers, provider) : null;
                if (fault is not null)
                {
                    LeaveProvider(attempt, provider, fault);
                    provider = null;
                    continue;
                }

                attempt.Ask(provider, new ConnectionLease(RequestOf(attempt, provider), attempt), _services.Time.GetTimestamp(), isProbe: probe is not null);

                // An end that came before had no lease to give up.
                if (HasEnded(attempt))
                    break;
                try
                {
                    await LeaseAsync(attempt, provider);
                    LeaveOutPaced(attempt);
                    _cancellationToken.ThrowIfCancellationRequested();
                    if (WaitedInSilence(attempt, provider))
                        throw new NntpException(NntpFault.Stalled, "The server sent nothing while the article waited for a connection.");
                    attempt.Send();
                    var outcome = await attempt.Lease.FetchAsync(attempt, provider.Index, _cancellationToken);
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
                    // Another attempt has brought the article, or brings it.
                }
                catch (OperationCanceledException) when (attempt.AsksAgain(provider) && !HasEnded(attempt) && !_cancellationToken.IsCancellationRequested)
                {
                    // The miss was settled while a connection was waited for.
                    attempt.IsAskedAgain = false;
                }
                finally
                {
                    Leave(attempt, probe, fault);
                }

                if (attempt.IsBeaten)
                    GiveWay(attempt, provider, probe);
                if (HasEnded(attempt))
                    break;
                provider = GoOn(attempt, provider, fault);
            }

            broke = null;
        }
        catch (Exception error)
        {
            broke = error;
        }

        End(attempt, broke);
        if (attempt != _first)
            return default;
        await SettleAsync();
        return Conclude();
    }

    /// <summary>The first provider in their order that was not asked yet; null when there is none left.</summary>
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
    /// There is no other provider left to ask. Of those that miss the article, one whose connection has not shown that it answers in step
    /// is asked once more, where nothing else can be answered in its place. Null when there is none.
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

    /// <summary>Gives a connection a moment to show that it answers in step, but no reader's; once the article was asked for again, whatever it takes.</summary>
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

    /// <summary>What a provider is asked for. Not written out in the walk, which would keep copies of the request over its waits.</summary>
    private ArticleRequest RequestOf(FetchAttempt attempt, Provider provider)
    {
        var isAlone = attempt.AsksAgain(provider);
        return _request with { IsLate = isAlone || attempt.IsLate, IsAlone = isAlone };
    }

    /// <summary>Waits for a connection.</summary>
    private ValueTask LeaseAsync(FetchAttempt attempt, Provider provider) => attempt.AsksAgain(provider)
        ? new ValueTask(LeaseAloneAsync(attempt.Doubt!, attempt.Lease))
        : provider.Pool.LeaseAsync(attempt.Lease, _cancellationToken);

    /// <summary>Waits for a connection of its own, unless the miss is settled before.</summary>
    private async Task LeaseAloneAsync(DoubtedMiss doubt, ConnectionLease lease)
    {
        var settled = doubt.Proof.Settled;
        var leasing = doubt.Provider.Pool.LeaseAsync(lease, _cancellationToken).AsTask();
        if (!settled.IsCompleted && await Task.WhenAny(leasing, settled) != leasing)
            lease.GiveUp();
        await leasing;
    }

    /// <summary>What a reader and an attempt have waited for the limit of bandwidth counts for neither: it is no reason for a second question.</summary>
    private void LeaveOutPaced(FetchAttempt attempt)
    {
        if (attempt.Lease.PacedFor is not (> 0 and var paced))
            return;
        attempt.WasPaced(paced);
        if (Volatile.Read(ref _awaitedSince) is var since and not long.MaxValue)
            Volatile.Write(ref _awaitedSince, Math.Min(since + paced, _services.Time.GetTimestamp()));
    }

    private void Missed(FetchAttempt attempt, Provider provider, ReplyOutcome outcome)
    {
        // Asked alone, it has answered this command and no other.
        if (attempt.AsksAgain(provider))
            attempt.Settled();
        _services.Missed(_request, provider);
        lock (Gate)
            Walk.Missed(provider, outcome);
    }

    /// <returns>False when another attempt has won.</returns>
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

    /// <summary>The provider to ask after a miss or a fault: the same once more, or another before its turn. Null for the next.</summary>
    private Provider? GoOn(FetchAttempt attempt, Provider provider, NntpException? fault)
    {
        if (fault?.Fault == NntpFault.GivenUp && provider.Pool.IsMute && !attempt.AsksAgain(provider))
            return PutOff(provider) ?? provider;
        if (fault?.Fault == NntpFault.GivenUp && attempt.TryLosePlace())
            return provider;

        // A silence has cost as much as a reader may wait: a provider that has not been asked comes before a second silence (F10).
        var other = fault?.Fault == NntpFault.Stalled ? TakeNext() : null;
        if (other is null && fault is { IsTransient: true } && !provider.Pool.IsUnreachable && attempt.Failures++ < _services.Options.RetriesPerProvider)
            return provider;
        LeaveProvider(attempt, provider, fault);
        return other;
    }

    /// <summary>The provider to ask in place of one that does not answer a dial for long, which comes after it. Null if no other can be reached.</summary>
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

    /// <summary>A question has its answer, or will have none: its lease is given back, and a fault that says something of the provider fails its probe.</summary>
    private void Leave(FetchAttempt attempt, BreakerProbe? probe, NntpException? fault)
    {
        attempt.Lease.Dispose();
        if (attempt.IsSent && fault is not null && ProviderHealth.IsTelling(fault))
            probe?.Failed(fault);
        attempt.Leave();
        _services.Meter.Fetched(attempt.AskedAt);
    }

    /// <summary>An attempt has lost: its provider was late, or was asked in vain because the late one has come to life.</summary>
    private void GiveWay(FetchAttempt attempt, Provider provider, BreakerProbe? probe)
    {
        if (attempt.HasLed)
        {
            var late = new NntpException(NntpFault.Stalled, "The server sent nothing for too long; the article was asked for elsewhere.");
            provider.Pool.Health.Bodies.Failed(late);
            probe?.Failed(late);
            Faulted(provider, late);
        }
        else if (provider != _first.Provider)
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

    /// <summary>An attempt has come to its end. One that has delivered or has broken off ends the others.</summary>
    private void End(FetchAttempt attempt, Exception? broke)
    {
        lock (Gate)
        {
            if (attempt.Doubt is { } unsettled)
                Walk.Doubt(unsettled);
            if (_challenger == attempt)
                _challenger = null;

            // There is nothing more to say about an attempt that has lost, and the caller who cancels is told so in any case.
            if (broke is not null && !(broke is OperationCanceledException && (attempt != _first || attempt.HasLost)))
                (_broke, _isOver) = (_broke ?? broke, true);
            if (!_isOver)
                return;
        }

        // No challenge begins any more.
        _first.GiveUp();
        foreach (var (challenger, _, _) in _challenges)
            challenger.GiveUp();
    }

    /// <summary>The walk of a challenge; null when there is no further one, and none begins any more.</summary>
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

    /// <summary>Waits for the challenges, and lets go of the thread unless what follows may run on it.</summary>
    private async Task SettleAsync()
    {
        for (var i = 0; NextChallenge(i) is { } challenge; i++)
            await challenge;
        _request.Urgency?.Unfollow(this);

        // What follows a delivery may be short enough for the read loop in which its reply has ended. Anything else has more in its train.
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
        if (Walk.Conclude(_request.Excluded, out var reply) is { } fault)
            ExceptionDispatchInfo.Throw(fault);
        return reply;
    }

    /// <summary>A reader has come to wait for the article. Takes no lock of the fetch, because readers raise under locks that its sink takes.</summary>
    public void Raise()
    {
        Volatile.Write(ref _awaitedSince, _services.Time.GetTimestamp());
        _first.Raise();
        foreach (var (challenger, _, _) in _challenges)
            challenger.Raise();
    }

    /// <summary>Whether the leader has waited for a connection for long, and its challenger too where there is one. Under the gate.</summary>
    private bool WaitsForLong()
    {
        if (_isTaken || _leader.IsSent || _challenger is { IsSent: true })
            return false;
        var since = _challenger is null ? _leader.AskedAt : Math.Max(_leader.AskedAt, _challenges[^1].BegunAt);
        return _services.Time.GetElapsedTime(since) >= _services.Options.HedgeWait;
    }

    /// <summary>
    /// Whether a reader has waited for a connection for so long, with nothing heard from the provider, that another silence would be more
    /// than a reader may wait (F10), and there is a provider left that has not been asked.
    /// </summary>
    private bool WaitedInSilence(FetchAttempt attempt, Provider provider)
    {
        var since = Math.Max(attempt.AskedAt, provider.Pool.Line.Silences.HeardAt);
        if (_request.Urgency?.IsHeadOfLine != true || _services.Time.GetElapsedTime(since) < _services.Options.PlaybackStall / 3)
            return false;
        lock (Gate)
            return _services.Next(_request, _asked, _walk) is not null;
    }

    /// <summary>
    /// Takes the second try that a reader is owed who has waited for half a silence: the rest of it, and perhaps a second silence behind it,
    /// would be more than a reader may wait (F10). One for each article happens too seldom to add to the traffic. Under the gate.
    /// </summary>
    private bool TryBeOwed()
    {
        var since = Volatile.Read(ref _awaitedSince);
        if (_wasOwed || since == long.MaxValue || _services.Time.GetElapsedTime(since) < _services.Options.PlaybackStall / 2)
            return false;
        return _wasOwed = true;
    }

    /// <summary>
    /// Whether the replies of its provider fail while there are others that answer: what is late there is not worth a race, and it costs no
    /// traffic to ask elsewhere for what will not come. A probe stays, because it is to find out how the provider answers.
    /// </summary>
    private bool MustLeave(FetchAttempt attempt) =>
        attempt is { Provider: { } provider, IsProbe: false } && ProviderSelector.MustSpare(_services.Providers, provider) is not null;

    /// <summary>Begins a second attempt where there is a provider to ask and leave to do so. Under the gate.</summary>
    /// <param name="late">The provider that was asked.</param>
    /// <param name="isSent">Whether its command has been sent.</param>
    /// <param name="isFree">Whether it costs nothing, because no connection is open that could send the article twice.</param>
    private bool TryChallenge(Provider late, bool isSent, bool isFree = false)
    {
        if (ProviderSelector.Rival(_services.Providers, _asked, _walk?.MissedBackbones, late, isSent) is not { } rival
            || _cancellationToken.IsCancellationRequested
            || !(isFree || TryBeOwed() || _services.Budget.TrySpend()))
            return false;
        _services.Meter.Hedged();
        MarkLate();
        _asked = _asked.With(rival.Index);
        var challenger = new FetchAttempt(this) { IsChallenge = true };
        _challenger = challenger;
        _challenges = [.. _challenges, (challenger, Task.Run(() => WalkAsync(challenger, rival)), _services.Time.GetTimestamp())];
        return true;
    }

    /// <summary>The article may come twice, and how long it took says nothing about the line.</summary>
    private void MarkLate()
    {
        if (_request.Urgency is { } urgency)
            (urgency.WasLate, urgency.WasAskedAgain) = (true, true);
    }

    /// <summary>Whether the sink takes the bytes of an attempt: those of the leader, or of a challenger while the leader has not stirred. Under the gate.</summary>
    private bool MayLead(FetchAttempt attempt)
    {
        if (attempt.HasLost || _isOver)
            return false;
        if (attempt == _leader)
            return !_isTaken;

        _challenger = null;
        if (_isTaken || _leader.AliveAt > _challenges[^1].BegunAt)
        {
            // The article that was late comes in again; what it has delivered already is worth more than a new beginning.
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
