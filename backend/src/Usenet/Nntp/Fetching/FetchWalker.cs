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

    private readonly HedgedFetch _fetch;
    private readonly FetchParts _parts;
    private readonly FetchRace _race;
    private readonly ConnectionLease _lease = new();
    private readonly WorkSignal _work = new();
    private readonly Task _loop;
    private Provider? _from;
    private bool _isLate;

    // Of the walk under way, at the provider that is being asked.
    private int _failures;
    private int _placesLost;

    public FetchWalker(HedgedFetch fetch, FetchParts parts, FetchRace race)
    {
        (_fetch, _parts, _race, Attempt) = (fetch, parts, race, new FetchTry(fetch, race));
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
        Attempt.MayMove = true;
        _work.Set();
    }

    /// <summary>A reader has come to wait for the article.</summary>
    public void Raise() => _lease.Raise();

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
                for (var provider = _from ?? _fetch.TakeNext(); provider is not null;)
                {
                    NntpException? fault = null;
                    using var probe = provider.Pool.Health.Bodies.TryProbe();
                    if (probe is null && ProviderSelector.MustSpare(_parts.Providers, provider) is { } reason)
                    {
                        _fetch.Faulted(provider, reason);
                        provider = _fetch.TakeNext();
                        continue;
                    }

                    var started = _parts.Time.GetTimestamp();
                    try
                    {
                        _race.Ask(Attempt, provider);
                        await provider.Pool.LeaseAsync(_lease, _isLate ? _fetch.Request with { IsLate = true } : _fetch.Request, Attempt.Token);
                        Attempt.Token.ThrowIfCancellationRequested();
                        _race.Send(Attempt, _lease);
                        var outcome = await _lease.FetchAsync(Attempt, provider.Index, Attempt.Token);
                        if (outcome.IsMiss)
                            _fetch.Missed(provider, outcome.MissCode);
                        else if (_race.HasWon(Attempt))
                            (delivered, over) = (provider, _lease.Connection);
                    }
                    catch (NntpException error)
                    {
                        fault = error;
                    }
                    catch (OperationCanceledException) when (Attempt.HasLost)
                    {
                        // Another try has brought the article, or brings it.
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

                    provider = GoOn(provider, fault);
                }
            }
            catch (Exception error)
            {
                broke = error;
            }

            _fetch.Ended(this, delivered, over, broke);
        }
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

        if (fault is { IsTransient: true } && !provider.Pool.IsUnreachable && _failures++ < _parts.Options.RetriesPerProvider)
            return provider;
        if (fault is not null)
            _fetch.Faulted(provider, fault);
        _failures = 0;
        return _fetch.TakeNext();
    }
}
