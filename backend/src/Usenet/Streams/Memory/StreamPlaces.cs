using Sluice.Usenet.Nntp;

namespace Sluice.Usenet.Streams.Memory;

/// <summary>
/// Assigns places: permits without which no stream may hold memory. If all are taken, the stream whose reader has been idle longest, and at least a second,
/// loses its place. If no stream is idle that long, the new one waits, and clients take turns. While several clients wait, none gets more than half of the
/// places. An active read is never interrupted.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards all fields, including the fields of places and clients. The budget's lock is acquired while <c>_gate</c> is held, but
/// streams are called without it. Nothing scans all places, because the longest idle place and the next client are first in their lists. One instance serves
/// every engine of the process.
/// </remarks>
internal sealed class StreamPlaces : IDisposable
{
    /// <summary>How long a reader must be idle before its stream gives way.</summary>
    public static readonly TimeSpan LeastIdle = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;

    // Places without a read in progress, longest idle first.
    private readonly LinkedList<StreamPlace> _idle = [];

    // All clients that have a place or wait for one, and the waiting clients in order.
    private readonly Dictionary<object, PlaceClient> _clients = [];
    private readonly LinkedList<PlaceClient> _turns = [];

    private StreamOptions _options;
    private int _taken;

    // Null while no place is idle. Fires at or before the time when a place must be released, and then checks again.
    private ITimer? _timer;
    private long _due;

    public StreamPlaces(StreamOptions options, TimeProvider time)
    {
        (_options, _time) = (options, time);
        Budget = new ByteBudget(options);
    }

    public ByteBudget Budget { get; }

    public int Most
    {
        get
        {
            lock (_gate)
                return _options.MaxStreams;
        }
    }

    public int Taken
    {
        get
        {
            lock (_gate)
                return _taken;
        }
    }

    public int Waiting
    {
        get
        {
            lock (_gate)
                return _turns.Sum(static client => client.Waiting.Count);
        }
    }

    /// <summary>Changes the number of places. Lowering it takes no place from a reading stream.</summary>
    public void Configure(StreamOptions options)
    {
        Budget.Configure(options);
        List<Action> calls;
        lock (_gate)
        {
            _options = options;
            calls = Settle();
        }

        Run(calls);
    }

    /// <summary>
    /// Creates a stream's place. Only a read occupies it. Clients are compared by equality; if null, the lane counts as the client.
    /// <paramref name="giveBack"/> is called when the stream exceeds its share, and <paramref name="giveUp"/> when it has lost its place and must free all
    /// memory. Both may be called on any thread and must not block or throw.
    /// </summary>
    public StreamPlace Open(OperationLane lane, object? client, Action giveBack, Action giveUp) =>
        new(this, new BudgetShare(Budget, lane, giveBack), client ?? lane, giveUp);

    /// <summary>Stops the timer. Streams that are still open keep their places.</summary>
    public void Dispose()
    {
        lock (_gate)
            Disarm();
    }

    internal ValueTask BeginAsync(StreamPlace place, CancellationToken cancellationToken)
    {
        List<Action> calls;
        Task? granted;
        lock (_gate)
        {
            if (place.IsHeld)
            {
                _idle.Remove(place.Node);
                return ValueTask.CompletedTask;
            }

            Queue(place);
            calls = Settle();
            granted = place.IsHeld ? null : (place.Granted = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }

        Run(calls);
        return granted is null ? ValueTask.CompletedTask : WaitAsync(place, granted, cancellationToken);
    }

    /// <summary>Ends a read, so that the place is idle from now on.</summary>
    internal void End(StreamPlace place)
    {
        lock (_gate)
        {
            Rest(place);
            if (_timer is null)
                Arm(place.IdleSince);
        }
    }

    internal void Leave(StreamPlace place)
    {
        List<Action> calls;
        lock (_gate)
        {
            if (!place.IsHeld)
                return;
            Release(place);
            Budget.Leave(place.Share);
            calls = Settle();
        }

        Run(calls);
    }

    private static void Run(List<Action> calls)
    {
        foreach (var call in calls)
            call();
    }

    private async ValueTask WaitAsync(StreamPlace place, Task granted, CancellationToken cancellationToken)
    {
        try
        {
            await granted.WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            List<Action> calls;
            lock (_gate)
            {
                // The place may have been granted at the same moment.
                if (place.IsHeld)
                    Rest(place);
                else
                    Unqueue(place);
                calls = Settle();
            }

            Run(calls);
            throw new StreamLimitException(Most, cancellationToken);
        }
    }

    private void OnDue()
    {
        List<Action> calls;
        lock (_gate)
        {
            Disarm();
            calls = Settle();
        }

        Run(calls);
    }

    /// <summary>Runs under the lock after every change: frees places idle for too long, assigns places to waiting streams, and sets the timer.</summary>
    /// <returns>Calls to make outside of the lock, in order: a stream frees its memory before its successor begins.</returns>
    private List<Action> Settle()
    {
        var now = _time.GetTimestamp();
        List<Action> calls = [];
        while (LongestIdle(now, _options.IdleDrop) is { } forgotten)
            Evict(forgotten, calls);
        while (_turns.Count > 0)
        {
            var isFull = _taken >= _options.MaxStreams;
            var victim = isFull ? LongestIdle(now, LeastIdle) : null;
            if (isFull && victim is null)
                break;
            if (_taken > _options.MaxStreams)
                Evict(victim!, calls);
            else
                Grant(Next(victim), victim, calls);
        }

        Arm(now);
        return calls;
    }

    private StreamPlace? LongestIdle(long now, TimeSpan least) =>
        _idle.First is { Value: var first } && _time.GetElapsedTime(first.IdleSince, now) >= least ? first : null;

    /// <summary>
    /// Chooses the stream that enters next, replacing the victim if there is one. Its client is the next in turn, unless that client already has half of the
    /// places. At most two clients are skipped, because two halves leave no place to assign.
    /// </summary>
    private StreamPlace Next(StreamPlace? victim)
    {
        var half = (_options.MaxStreams + 1) / 2;
        var turn = _turns.First!;
        while (_turns.Count > 1 && turn.Value.Held - (victim?.Client == turn.Value ? 1 : 0) >= half && turn.Next is { } other)
            turn = other;
        return turn.Value.Waiting.First!.Value;
    }

    private void Queue(StreamPlace place)
    {
        if (!_clients.TryGetValue(place.Key, out var client))
            _clients.Add(place.Key, client = new PlaceClient());
        place.Client = client;
        client.Waiting.AddLast(place.Node);
        if (client.Waiting.Count == 1)
            _turns.AddLast(client.Turn);
    }

    private void Unqueue(StreamPlace place)
    {
        var client = place.Client!;
        client.Waiting.Remove(place.Node);
        place.Granted = null;
        if (client.Waiting.Count == 0)
            _turns.Remove(client.Turn);
        Forget(place);
    }

    private void Grant(StreamPlace place, StreamPlace? victim, List<Action> calls)
    {
        var client = place.Client!;
        client.Waiting.Remove(place.Node);
        _turns.Remove(client.Turn);
        if (client.Waiting.Count > 0)
            _turns.AddLast(client.Turn);
        client.Held++;
        _taken++;
        place.IsHeld = true;
        if (victim is not null)
        {
            Release(victim);
            calls.Add(victim.GiveUp);
        }

        calls.AddRange(Budget.Enter(place.Share, instead: victim?.Share));
        if (place.Granted is { } granted)
            calls.Add(granted.SetResult);
        place.Granted = null;
    }

    private void Evict(StreamPlace place, List<Action> calls)
    {
        Release(place);
        Budget.Leave(place.Share);
        calls.Add(place.GiveUp);
    }

    private void Release(StreamPlace place)
    {
        place.Node.List?.Remove(place.Node);
        place.IsHeld = false;
        place.Client!.Held--;
        _taken--;
        Forget(place);
    }

    private void Forget(StreamPlace place)
    {
        if (place.Client is { Held: 0, Waiting.Count: 0 })
            _clients.Remove(place.Key);
        place.Client = null;
    }

    private void Rest(StreamPlace place)
    {
        place.IdleSince = _time.GetTimestamp();
        _idle.AddLast(place.Node);
    }

    private void Arm(long now)
    {
        if (_idle.First is not { Value: var first })
        {
            Disarm();
            return;
        }

        var limit = _turns.Count > 0 ? LeastIdle : _options.IdleDrop;
        var due = first.IdleSince + (long)(limit.TotalSeconds * _time.TimestampFrequency);
        if (_timer is not null && _due <= due)
            return;
        _due = due;

        // Timers count whole milliseconds, so round up: a timer that fires early would have to be set again.
        var wait = TimeSpan.FromMilliseconds(Math.Ceiling(Math.Max(0, _time.GetElapsedTime(now, due).TotalMilliseconds)));
        if (_timer is null)
            _timer = _time.CreateTimer(static places => ((StreamPlaces)places!).OnDue(), this, wait, Timeout.InfiniteTimeSpan);
        else
            _timer.Change(wait, Timeout.InfiniteTimeSpan);
    }

    private void Disarm()
    {
        _timer?.Dispose();
        _timer = null;
    }
}

/// <summary>The place of one stream, which keeps it while reading and until another stream needs it.</summary>
/// <remarks>Guarded by the lock of <see cref="StreamPlaces"/>. Dispose it once nothing is charged.</remarks>
internal sealed class StreamPlace : IDisposable
{
    private readonly StreamPlaces _places;
    private volatile bool _isHeld;
    private volatile TaskCompletionSource? _granted;

    public StreamPlace(StreamPlaces places, BudgetShare share, object key, Action giveUp)
    {
        _places = places;
        (Share, Key, GiveUp) = (share, key, giveUp);
        Node = new LinkedListNode<StreamPlace>(this);
    }

    public BudgetShare Share { get; }

    public object Key { get; }

    /// <summary>Frees all memory of the stream after it has lost the place.</summary>
    public Action GiveUp { get; }

    /// <summary>Whether the stream has its place. Snapshots read this without the lock.</summary>
    public bool IsHeld
    {
        get => _isHeld;
        set => _isHeld = value;
    }

    /// <summary>Whether a read waits for the place. Snapshots read this without the lock.</summary>
    public bool IsWaiting => _granted is not null;

    /// <summary>Node in the list of idle places or in the client's queue; otherwise unlinked.</summary>
    public LinkedListNode<StreamPlace> Node { get; }

    public long IdleSince { get; set; }

    /// <summary>The client; null unless the place is held or waited for.</summary>
    public PlaceClient? Client { get; set; }

    /// <summary>Completes the wait for the place; null while no read waits.</summary>
    public TaskCompletionSource? Granted
    {
        get => _granted;
        set => _granted = value;
    }

    /// <summary>Takes the place for one read, or waits for it. <see cref="End"/> must follow.</summary>
    /// <exception cref="StreamLimitException">The token was canceled before there was a place.</exception>
    public ValueTask BeginAsync(CancellationToken cancellationToken) => _places.BeginAsync(this, cancellationToken);

    public void End() => _places.End(this);

    public void Dispose() => _places.Leave(this);
}

/// <summary>A client whose streams hold or wait for places. Guarded by the lock of <see cref="StreamPlaces"/>.</summary>
internal sealed class PlaceClient
{
    public PlaceClient() => Turn = new LinkedListNode<PlaceClient>(this);

    /// <summary>The client's node in the queue of turns, linked while any of its streams waits.</summary>
    public LinkedListNode<PlaceClient> Turn { get; }

    /// <summary>The client's waiting streams, in order of arrival.</summary>
    public LinkedList<StreamPlace> Waiting { get; } = [];

    public int Held { get; set; }
}
