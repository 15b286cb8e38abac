using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>A well-formed header, with its user and password.</summary>
internal sealed record BasicAttempt(string Header, string User, string Password);

/// <summary>
/// The line of headers in front of the slow hash: bounded, one place for each header however many requests have it, one place for each
/// sender, and in the order of trust (S2). A header without a place is refused at once.
/// </summary>
/// <param name="failures">Where a wrong header counts against all its senders, also those that did not wait for the answer.</param>
/// <param name="isRight">The slow hash.</param>
/// <remarks>
/// Thread-safe. Hashes run one at a time on a thread of their own while the line is not empty, so that requests which need none
/// never wait for a thread of the pool. The lock guards every field and the places; nothing is taken below it.
/// </remarks>
internal sealed class HashLine(FailureBudget failures, Func<BasicAttempt, bool> isRight) : IAsyncDisposable
{
    /// <summary>The rank of a header that was right lately: before all others, and never displaced.</summary>
    public const int Known = -1;

    /// <summary>Headers that wait at a time, besides the header being hashed.</summary>
    public const int MaxPlaces = 8;

    // Above the number of connections; each may have left and come again.
    private const int MaxSharers = 1024;

    private readonly Lock _lock = new();

    // By header: the waiting places, and the place being hashed.
    private readonly Dictionary<string, Place> _places = new(StringComparer.Ordinal);

    // In the order in which they are hashed.
    private readonly List<Place> _waiting = [];
    private Task _worker = Task.CompletedTask;
    private bool _isWorking;
    private bool _isDisposed;

    /// <summary>Has a header hashed.</summary>
    /// <param name="attempt">The header.</param>
    /// <param name="caller">Its sender.</param>
    /// <param name="rank">The lower, the sooner: <see cref="Known"/>, or the failures of the caller.</param>
    /// <param name="cancellationToken">The caller has gone.</param>
    /// <returns>Whether it is right; null when there is no place for it now.</returns>
    public async ValueTask<bool?> JudgeAsync(BasicAttempt attempt, Caller caller, int rank, CancellationToken cancellationToken)
    {
        Place? place;
        lock (_lock)
            place = _isDisposed ? null : Enter(attempt, caller, rank);
        if (place is null)
            return null;

        try
        {
            return await place.Verdict.Task.WaitAsync(cancellationToken);
        }
        finally
        {
            Leave(place);
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        Task worker;
        lock (_lock)
        {
            _isDisposed = true;
            while (_waiting.Count > 0)
                Displace(_waiting[0]);
            worker = _worker;
        }

        await worker;
    }

    private Place? Enter(BasicAttempt attempt, Caller caller, int rank)
    {
        if (_places.TryGetValue(attempt.Header, out var place))
        {
            if (place.Callers.Count >= MaxSharers && !place.Callers.Contains(caller))
                return null;
            if (rank < place.Rank && _waiting.Remove(place))
                Insert(place, rank);
        }
        else
        {
            if (rank != Known && _places.Values.Any(other => other.Owner == caller.Client))
                return null;
            if (_waiting.Count == MaxPlaces)
            {
                if (_waiting[^1].Rank <= rank)
                    return null;
                Displace(_waiting[^1]);
            }

            _places[attempt.Header] = place = new Place(attempt, caller.Client);
            Insert(place, rank);
        }

        place.Callers.Add(caller);
        place.Waiters++;
        if (!_isWorking)
        {
            _isWorking = true;
            _worker = Task.Factory.StartNew(Work, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default);
        }

        return place;
    }

    private void Insert(Place place, int rank)
    {
        place.Rank = rank;
        var index = _waiting.FindIndex(other => other.Rank > rank);
        _waiting.Insert(index < 0 ? _waiting.Count : index, place);
    }

    /// <summary>Drops the place when its last request has gone: its header is not hashed then.</summary>
    private void Leave(Place place)
    {
        lock (_lock)
        {
            if (--place.Waiters == 0 && _waiting.Contains(place))
                Displace(place);
        }
    }

    private void Displace(Place place)
    {
        _waiting.Remove(place);
        _places.Remove(place.Attempt.Header);
        place.Verdict.TrySetResult(null);
    }

    private void Work()
    {
        while (TakeFirst() is { } place)
        {
            try
            {
                var verdict = isRight(place.Attempt);
                Finish(place, isWrong: !verdict);
                place.Verdict.TrySetResult(verdict);
            }
            catch (Exception e)
            {
                // Each request that waits fails with it; the next header may do better.
                Finish(place, isWrong: false);
                place.Verdict.TrySetException(e);
            }
        }
    }

    private Place? TakeFirst()
    {
        lock (_lock)
        {
            if (_waiting is not [var first, ..])
            {
                _isWorking = false;
                return null;
            }

            _waiting.RemoveAt(0);
            return first;
        }
    }

    private void Finish(Place place, bool isWrong)
    {
        // From here on no caller joins it.
        lock (_lock)
            _places.Remove(place.Attempt.Header);
        foreach (var caller in isWrong ? place.Callers : [])
            failures.Add(caller, BasicVerifier.What);
    }

    /// <summary>One header that waits or is hashed; guarded by the lock of the line.</summary>
    private sealed class Place(BasicAttempt attempt, AddressPrefix owner)
    {
        public BasicAttempt Attempt { get; } = attempt;

        public AddressPrefix Owner { get; } = owner;

        public HashSet<Caller> Callers { get; } = [];

        public TaskCompletionSource<bool?> Verdict { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public int Rank { get; set; }

        public int Waiters { get; set; }
    }
}
