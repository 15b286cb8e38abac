namespace Sluice.Server.Auth;

/// <summary>A credential that only a slow hash can judge.</summary>
/// <param name="Kind">Its kind.</param>
/// <param name="Mark">Tells equal ones of a kind (<see cref="FailureBudget.Mark"/>): they share one hash.</param>
/// <param name="IsRight">The slow hash.</param>
internal sealed record HashAttempt(CredentialKind Kind, UInt128 Mark, Func<bool> IsRight);

/// <summary>
/// The one line of all logins in front of the slow hash: bounded, one place for each credential however many requests bring it, few
/// for each sender and kind, and in the order of trust (S2). A credential without a place is refused at once, and so is a stranger's
/// that others keep waiting.
/// </summary>
/// <param name="failures">Counts a wrong credential against all its senders, also those that did not wait for the answer.</param>
/// <param name="time">The clock.</param>
/// <remarks>
/// Thread-safe. Hashes run one at a time on a thread of their own while the line is not empty, so that requests which need none
/// never wait for a thread of the pool. The lock guards every field and the places; nothing is taken below it.
/// </remarks>
internal sealed class HashLine(FailureBudget failures, TimeProvider time) : IAsyncDisposable
{
    /// <summary>The rank of a credential or browser that was right lately: before all others, and never displaced.</summary>
    public const int Known = -2;

    /// <summary>The rank of an address that was right before: before all strangers, and not refused while it waits.</summary>
    public const int Familiar = -1;

    /// <summary>Credentials that wait at a time, besides the one being hashed.</summary>
    public const int MaxPlaces = 8;

    /// <summary>The Retry-After of a credential without a place, in seconds.</summary>
    public const string RetryAfterSeconds = "5";

    // Above the number of connections; each may have left and come again.
    private const int MaxSharers = 1024;

    // With two hashes after it, a stranger has an answer within two seconds.
    private static readonly TimeSpan MaxWait = TimeSpan.FromMilliseconds(500);

    private readonly Lock _lock = new();

    // The waiting places, and the place being hashed.
    private readonly Dictionary<(CredentialKind, UInt128), Place> _places = [];

    // In the order in which they are hashed.
    private readonly List<Place> _waiting = [];
    private Task _worker = Task.CompletedTask;
    private bool _isWorking;
    private bool _isDisposed;

    /// <summary>Has a credential hashed.</summary>
    /// <param name="attempt">The credential.</param>
    /// <param name="caller">Its sender.</param>
    /// <param name="rank">The lower, the sooner: <see cref="Known"/>, <see cref="Familiar"/>, or the failures of the caller.</param>
    /// <param name="cancellationToken">The caller has gone.</param>
    /// <returns>Whether it is right; null if there is no place for it now.</returns>
    public async ValueTask<bool?> JudgeAsync(HashAttempt attempt, Caller caller, int rank, CancellationToken cancellationToken)
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

    private Place? Enter(HashAttempt attempt, Caller caller, int rank)
    {
        var key = (attempt.Kind, attempt.Mark);
        if (_places.TryGetValue(key, out var place))
        {
            if (place.Callers.Count >= MaxSharers && !place.Callers.Contains(caller))
                return null;
            if (rank < place.Rank && _waiting.Remove(place))
                Insert(place, rank);
        }
        else
        {
            if (_places.Values.Count(other => other.Attempt.Kind == attempt.Kind && other.Owner == caller.Sender) >= PlacesOf(rank))
                return null;
            if (_waiting.Count == MaxPlaces)
            {
                if (_waiting[^1].Rank <= rank)
                    return null;
                Displace(_waiting[^1]);
            }

            _places[key] = place = new Place(attempt, caller.Sender);
            Insert(place, rank);
            if (rank > Familiar)
                place.Limit = time.CreateTimer(_ => OnWaitedLong(place), null, MaxWait, Timeout.InfiniteTimeSpan);
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

    /// <summary>Places of one sender and kind: in a home the stale password of one client may stand beside the right one of another.</summary>
    private static int PlacesOf(int rank) => rank switch { Known => MaxPlaces, Familiar => 2, _ => 1 };

    private void Insert(Place place, int rank)
    {
        place.Rank = rank;
        var index = _waiting.FindIndex(other => other.Rank > rank);
        _waiting.Insert(index < 0 ? _waiting.Count : index, place);
    }

    /// <summary>Drops the place when its last request has gone: its credential is not hashed then.</summary>
    private void Leave(Place place)
    {
        lock (_lock)
        {
            if (--place.Waiters == 0 && _waiting.Contains(place))
                Displace(place);
        }
    }

    /// <summary>
    /// Refuses a stranger with others in front of it: its client asks again, and has an answer meanwhile. The next in the line stays, however
    /// slow a hash is on this machine.
    /// </summary>
    private void OnWaitedLong(Place place)
    {
        lock (_lock)
        {
            // A sharer of more trust may have joined.
            if (place.Rank > Familiar && _waiting.IndexOf(place) > 0)
                Displace(place);
        }
    }

    private void Displace(Place place)
    {
        _waiting.Remove(place);
        _places.Remove((place.Attempt.Kind, place.Attempt.Mark));
        place.Limit?.Dispose();
        place.Verdict.TrySetResult(null);
    }

    private void Work()
    {
        while (TakeFirst() is { } place)
        {
            try
            {
                var verdict = place.Attempt.IsRight();
                Finish(place, isWrong: !verdict);
                place.Verdict.TrySetResult(verdict);
            }
            catch (Exception e)
            {
                // Each request that waits fails with it; the next credential may do better.
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
            first.Limit?.Dispose();
            return first;
        }
    }

    private void Finish(Place place, bool isWrong)
    {
        // From here on no caller joins it.
        lock (_lock)
            _places.Remove((place.Attempt.Kind, place.Attempt.Mark));
        foreach (var caller in isWrong ? place.Callers : [])
            failures.Add(place.Attempt.Kind, caller, place.Attempt.Mark);
    }

    /// <summary>One credential that waits or is hashed; guarded by the lock of the line.</summary>
    private sealed class Place(HashAttempt attempt, Sender owner)
    {
        public HashAttempt Attempt { get; } = attempt;

        public Sender Owner { get; } = owner;

        public HashSet<Caller> Callers { get; } = [];

        public TaskCompletionSource<bool?> Verdict { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>Ends the wait of a stranger; null for any other.</summary>
        public ITimer? Limit { get; set; }

        public int Rank { get; set; }

        public int Waiters { get; set; }
    }
}
