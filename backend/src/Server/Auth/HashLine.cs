namespace Sluice.Server.Auth;

/// <summary>A credential to hash. Attempts of the same kind and <see cref="FailureBudget.Mark"/> share one hash.</summary>
internal sealed record HashAttempt(CredentialKind Kind, UInt128 Mark, Func<bool> IsRight);

/// <summary>
/// The bounded queue of logins that need the slow hash, ordered by trust (S2). Requests with the same credential share a place, and a sender has few places per
/// kind. If the queue is full, a credential is refused immediately. A stranger that waits too long behind others is refused too. Thread-safe. Hashes run one at
/// a time on a dedicated thread, so that they cannot starve the thread pool. One lock guards all fields and places; no other lock is acquired while holding it.
/// A wrong credential counts against every sender that sent it, even if the sender has disconnected.
/// </summary>
internal sealed class HashLine(FailureBudget failures, TimeProvider time) : IAsyncDisposable
{
    /// <summary>Rank of a recently accepted credential or known browser. It goes first and is never displaced.</summary>
    public const int Known = -2;

    /// <summary>Rank of a known address. It goes before all strangers and never times out.</summary>
    public const int Familiar = -1;

    /// <summary>Maximum waiting credentials, besides the one being hashed.</summary>
    public const int MaxPlaces = 8;

    /// <summary>Retry-After for a credential refused by the queue, in seconds.</summary>
    public const string RetryAfterSeconds = "5";

    // Larger than the connection limit, because a client may reconnect while its credential is waiting.
    private const int MaxSharers = 1024;

    // So short that, even behind two hashes, a stranger gets a response within two seconds.
    private static readonly TimeSpan MaxWait = TimeSpan.FromMilliseconds(500);

    private readonly Lock _lock = new();

    // The waiting places, and the place whose hash is being computed.
    private readonly Dictionary<(CredentialKind, UInt128), Place> _places = [];

    // In the order in which they will be hashed.
    private readonly List<Place> _waiting = [];
    private Task _worker = Task.CompletedTask;
    private bool _isWorking;
    private bool _isDisposed;
    private long _begun;
    private long _waited;

    /// <summary>Hashes begun from the arrival of each correct credential until its verdict, including its own, in total since startup.</summary>
    public long Waited
    {
        get
        {
            lock (_lock)
                return _waited;
        }
    }

    /// <summary>Hashes a credential. Returns whether it is correct; null if the queue refused it.</summary>
    /// <param name="rank">Lower ranks go first: <see cref="Known"/>, <see cref="Familiar"/>, or the caller's failures.</param>
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

            _places[key] = place = new Place(attempt, caller.Sender, _begun);
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

    /// <summary>Places per sender and kind. A known address gets two: one of its clients may have a stale password, another the current one.</summary>
    private static int PlacesOf(int rank) => rank switch { Known => MaxPlaces, Familiar => 2, _ => 1 };

    private void Insert(Place place, int rank)
    {
        place.Rank = rank;
        var index = _waiting.FindIndex(other => other.Rank > rank);
        _waiting.Insert(index < 0 ? _waiting.Count : index, place);
    }

    /// <summary>Called when a request stops waiting. The last request of a place removes the place, so that no hash is wasted.</summary>
    private void Leave(Place place)
    {
        lock (_lock)
        {
            if (--place.Waiters == 0 && _waiting.Contains(place))
                Displace(place);
        }
    }

    /// <summary>Refuses a stranger after its maximum wait, because its client will retry. The next in the queue stays.</summary>
    private void OnWaitedLong(Place place)
    {
        lock (_lock)
        {
            // A more trusted caller may have joined this place in the meantime.
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
                Finish(place, verdict);
                place.Verdict.TrySetResult(verdict);
            }
            catch (Exception e)
            {
                // Fail only the requests with this credential. The worker continues with the next one.
                Finish(place, verdict: null);
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
            _begun++;
            return first;
        }
    }

    private void Finish(Place place, bool? verdict)
    {
        lock (_lock)
        {
            // Remove the place first, so that no caller can join a finished hash.
            _places.Remove((place.Attempt.Kind, place.Attempt.Mark));
            if (verdict == true)
                _waited += _begun - place.BegunBefore;
        }

        foreach (var caller in verdict == false ? place.Callers : [])
            failures.Add(place.Attempt.Kind, caller, place.Attempt.Mark);
    }

    /// <summary>One waiting or running credential; guarded by _lock.</summary>
    private sealed class Place(HashAttempt attempt, Sender owner, long begunBefore)
    {
        public HashAttempt Attempt { get; } = attempt;

        public Sender Owner { get; } = owner;

        /// <summary>Hashes begun before this credential arrived.</summary>
        public long BegunBefore { get; } = begunBefore;

        public HashSet<Caller> Callers { get; } = [];

        public TaskCompletionSource<bool?> Verdict { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>Timer that limits a stranger's wait; null for others.</summary>
        public ITimer? Limit { get; set; }

        public int Rank { get; set; }

        public int Waiters { get; set; }
    }
}
