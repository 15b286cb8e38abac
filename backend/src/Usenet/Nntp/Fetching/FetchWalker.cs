using System.Diagnostics.CodeAnalysis;

namespace Sluice.Usenet.Nntp;

/// <summary>
/// Takes one try of a fetch from provider to provider: a miss is a value and moves on at once, a fault is tried again on another
/// connection of the same provider first.
/// </summary>
/// <remarks>
/// One loop serves the walk of one fetch after the other, so that a walk that waits costs no object. Nothing but its walker
/// refers to the loop; both are collected together.
/// </remarks>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable", Justification = "The lease is disposed at the end of each question.")]
internal sealed class FetchWalker
{
    // Where articles stall all the time, each move ends behind the next that stalls: a fetch that has made room this often waits
    // where it is, until what is before it comes or its connection has stalled.
    private const int MostMoves = 8;

    // It can lose its place even so: its connection is given up, or all who wait are sent away. By then that is a failure like any other.
    private const int MostPlacesLost = 32;

    // A miss that is not proved by then is asked for again, alone on a connection; at once where a reader waits.
    private static readonly TimeSpan ProofWait = TimeSpan.FromSeconds(1);

    private readonly HedgedFetch _fetch;
    private readonly FetchParts _parts;
    private readonly FetchRace _race;
    private readonly ConnectionLease _lease;
    private readonly WorkSignal _work = new();
    private readonly Task _loop;
    private Provider? _from;
    private bool _isLate;

    // Of the walk under way, at the provider that is being asked.
    private int _failures;
    private int _placesLost;

    // The miss that is being settled, whether its provider is asked again for it, and why that came to nothing. Of one walk.
    private DoubtedMiss? _doubt;
    private bool _isAskedAgain;
    private NntpException? _lastFault;
    private volatile TaskCompletionSource? _urgent;

    public FetchWalker(HedgedFetch fetch, FetchParts parts, FetchRace race)
    {
        (_fetch, _parts, _race, Attempt) = (fetch, parts, race, new FetchTry(fetch, race));
        _lease = new ConnectionLease(Attempt);
        // The context of whoever happens to fetch first must not live as long as the loop.
        using (ExecutionContext.SuppressFlow())
            _loop = ServeAsync();
    }

    /// <summary>What the race knows of it.</summary>
    public FetchTry Attempt { get; }

    /// <summary>Walks, and tells the fetch of the end; again only after that.</summary>
    /// <param name="from">Who is asked first; null for the next that has not been asked.</param>
    public void Start(Provider? from)
    {
        (_from, _isLate, _failures, _placesLost) = (from, from is not null, 0, 0);
        (_doubt, _isAskedAgain, _lastFault) = (null, false, null);
        Attempt.MayMove = true;
        _work.Set();
    }

    /// <summary>A reader has come to wait for the article.</summary>
    public void Raise()
    {
        _lease.Raise();
        _urgent?.TrySetResult();
    }

    /// <summary>Whether it can walk for another fetch.</summary>
    public bool TryReset() => !_loop.IsCompleted && Attempt.TryReset();

    private async Task ServeAsync()
    {
        while (true)
        {
            await _work.WaitAsync();
            Provider? delivered = null;
            object? over = null;
            Exception? broke = null;
            try
            {
                for (var provider = _from ?? _fetch.TakeNext() ?? await TakeDoubtedAsync(); provider is not null;)
                {
                    NntpException? fault = null;
                    // Providers that rest come after all others: none of those has the article.
                    using var probe = provider.Pool.Health.Bodies.TryProbe(isNeeded: _fetch.Request.Lane == OperationLane.Playback);
                    if (probe is null && ProviderSelector.MustSpare(_parts.Providers, provider) is { } reason)
                    {
                        _lastFault = reason;
                        _fetch.Faulted(provider, reason);
                        provider = _fetch.TakeNext() ?? await TakeDoubtedAsync();
                        continue;
                    }

                    var started = _parts.Time.GetTimestamp();
                    try
                    {
                        _race.Ask(Attempt, provider);
                        if (IsAskedAgain(provider))
                            await LeaseAloneAsync(provider, _doubt!);
                        else
                            await provider.Pool.LeaseAsync(_lease, _isLate ? _fetch.Request with { IsLate = true } : _fetch.Request, Attempt.Token);
                        Attempt.Token.ThrowIfCancellationRequested();
                        _race.Send(Attempt, _lease);
                        var outcome = await _lease.FetchAsync(Attempt, provider.Index, Attempt.Token);
                        if (outcome.IsMiss)
                            Missed(provider, outcome);
                        else if (_race.HasWon(Attempt))
                            (delivered, over) = (provider, _lease.Connection);
                    }
                    catch (NntpException error)
                    {
                        fault = Attempt.Lease is null ? error.BeforeAsked() : error;
                    }
                    catch (OperationCanceledException) when (Attempt.HasLost)
                    {
                        // Another try has brought the article, or brings it.
                    }
                    catch (OperationCanceledException) when (IsAskedAgain(provider) && !Attempt.Token.IsCancellationRequested)
                    {
                        // The miss was settled while a connection was waited for.
                        _isAskedAgain = false;
                    }
                    finally
                    {
                        var wasSent = Attempt.Lease is not null;
                        _lease.Dispose();
                        if (wasSent && fault is not null && ProviderHealth.IsTelling(fault))
                            probe?.Failed(fault);
                        _race.Leave(Attempt);
                        _parts.Meter.Fetched(started);
                    }

                    if (delivered is not null)
                    {
                        _parts.Delivered(_fetch.Request, provider, probe);
                        break;
                    }

                    if (Attempt.HasLost)
                    {
                        _fetch.GiveWay(Attempt, provider, probe);
                        break;
                    }

                    provider = GoOn(provider, fault) ?? await TakeDoubtedAsync();
                }
            }
            catch (Exception error)
            {
                broke = error;
            }

            if (_doubt is not null)
                _fetch.Doubt(_doubt);
            _fetch.Ended(this, delivered, over, broke);
        }
    }

    private void Missed(Provider provider, ReplyOutcome outcome)
    {
        // Asked alone, it has answered this command and no other.
        if (IsAskedAgain(provider))
            (_doubt, _isAskedAgain) = (null, false);
        _fetch.Missed(provider, outcome);
    }

    private bool IsAskedAgain(Provider provider) => _isAskedAgain && _doubt?.Provider == provider;

    /// <summary>Waits for a connection of its own, unless the miss is settled before.</summary>
    private async Task LeaseAloneAsync(Provider provider, DoubtedMiss doubt)
    {
        using var wait = CancellationTokenSource.CreateLinkedTokenSource(Attempt.Token);
        var leasing = provider.Pool.LeaseAsync(_lease, _fetch.Request with { IsLate = true, IsAlone = true }, wait.Token).AsTask();
        if (!doubt.Proof.Settled.IsCompleted && await Task.WhenAny(leasing, doubt.Proof.Settled) != leasing)
            await wait.CancelAsync();
        await leasing;
    }

    /// <summary>
    /// There is no other provider left to ask. Of those that miss the article, one whose connection has not shown that it answers in step
    /// is asked once more, where nothing else can be answered in its place.
    /// </summary>
    /// <returns>Null when all misses are settled.</returns>
    private async ValueTask<Provider?> TakeDoubtedAsync()
    {
        while ((_doubt ??= _fetch.TakeDoubt()) is { } doubt)
        {
            if (_isAskedAgain)
                await doubt.Proof.Settled.WaitAsync(Attempt.Token);
            else
                await AwaitProofAsync(doubt);

            if (doubt.Proof.IsRefuted)
                _fetch.Unmissed(doubt.Provider);
            if (!doubt.Proof.IsProved && !_isAskedAgain)
            {
                _isAskedAgain = true;
                return doubt.Provider;
            }

            if (doubt.Proof.IsRefuted && _lastFault is not null)
                _fetch.Faulted(doubt.Provider, _lastFault);
            (_doubt, _isAskedAgain) = (null, false);
        }

        return null;
    }

    /// <summary>Gives the connection a moment to show that it answers in step, but no reader's.</summary>
    private async Task AwaitProofAsync(DoubtedMiss doubt)
    {
        var urgent = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _urgent = urgent;
        if (doubt.Proof.Settled.IsCompleted || _fetch.Request.Urgency?.IsHeadOfLine == true)
            return;
        using var wait = CancellationTokenSource.CreateLinkedTokenSource(Attempt.Token);
        await Task.WhenAny(doubt.Proof.Settled, urgent.Task, Task.Delay(ProofWait, _parts.Time, wait.Token));
        await wait.CancelAsync();
        Attempt.Token.ThrowIfCancellationRequested();
    }

    /// <summary>Whom to ask after a miss or a fault: perhaps the same once more.</summary>
    /// <returns>Null when there is none left.</returns>
    private Provider? GoOn(Provider provider, NntpException? fault)
    {
        if (fault?.Fault == NntpFault.GivenUp && _placesLost < MostPlacesLost)
        {
            _isLate = true;
            Attempt.MayMove = ++_placesLost < MostMoves;
            return provider;
        }

        // A silence has cost as much as a reader may wait, so whoever has not been asked comes before a second silence (F10).
        var other = fault?.Fault == NntpFault.Stalled ? _fetch.TakeNext() : null;
        if (other is null && fault is { IsTransient: true } && !provider.Pool.IsUnreachable && _failures++ < _parts.Options.RetriesPerProvider)
            return provider;
        if (fault is not null)
            _fetch.Faulted(provider, fault);
        _lastFault = fault;
        _failures = 0;
        return other ?? _fetch.TakeNext();
    }
}
