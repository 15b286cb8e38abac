using Sluice.Server.Listening;

namespace Sluice.Server.Auth;

/// <summary>
/// Limits failed guesses per minute, of passwords, keys and keys of links together (DAV-32, DAV-83, S2): ten of one sender under any
/// user name, and 300 through one trusted proxy, which may pass on addresses that its clients made up.
/// </summary>
/// <remarks>Thread-safe; remembers a bounded number of senders.</remarks>
internal sealed class FailureBudget(TimeProvider time, ILogger<FailureBudget> logger)
{
    /// <summary>The Retry-After of a sender whose budget is used up, in seconds.</summary>
    public const string RetryAfterSeconds = "60";

    private readonly FailureThrottle _clients = new(time, limit: 10, maxKeys: 10_000);
    private readonly FailureThrottle _proxies = new(time, limit: 300, maxKeys: 256);

    /// <summary>Whether credentials of this caller are refused unless they were right before.</summary>
    public bool IsSpent(Caller caller) => _clients.IsBlocked(caller.Client) || (caller.Proxy is { } proxy && _proxies.IsBlocked(proxy));

    /// <summary>Failures of the client in the last minute.</summary>
    public int Failures(Caller caller) => _clients.Count(caller.Client);

    /// <summary>Counts a failure.</summary>
    /// <param name="caller">The sender.</param>
    /// <param name="what">The kind of credentials, for the log.</param>
    public void Add(Caller caller, string what)
    {
        _clients.Add(caller.Client);
        if (caller.Proxy is { } proxy)
            _proxies.Add(proxy);
        AuthLog.Refused(logger, what, caller.Client);
    }
}

/// <summary>Counts failures by sender over the last minute.</summary>
/// <param name="time">The clock.</param>
/// <param name="limit">Failures after which a sender is blocked, until the oldest of them is a minute old.</param>
/// <param name="maxKeys">Senders remembered; beyond that the sender with the oldest last failure is forgotten.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed class FailureThrottle(TimeProvider time, int limit, int maxKeys)
{
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<AddressPrefix, LinkedListNode<Sender>> _senders = [];

    // In the order of their last failures.
    private readonly LinkedList<Sender> _order = new();

    /// <summary>Whether the sender has to wait.</summary>
    public bool IsBlocked(AddressPrefix key) => Count(key) >= limit;

    /// <summary>Failures of the last minute, up to the limit.</summary>
    public int Count(AddressPrefix key)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) ? Trim(node.Value.Times) : 0;
    }

    /// <summary>Remembers a failure.</summary>
    public void Add(AddressPrefix key)
    {
        lock (_lock)
        {
            if (_senders.TryGetValue(key, out var node))
            {
                _order.Remove(node);
            }
            else
            {
                if (_senders.Count >= maxKeys)
                    ForgetOldest();
                _senders[key] = node = new LinkedListNode<Sender>(new Sender(key, []));
            }

            _order.AddLast(node);
            var times = node.Value.Times;
            if (Trim(times) >= limit)
                times.Dequeue();
            times.Enqueue(time.GetTimestamp());
        }
    }

    private void ForgetOldest()
    {
        _senders.Remove(_order.First!.Value.Key);
        _order.RemoveFirst();
    }

    private int Trim(Queue<long> times)
    {
        while (times.TryPeek(out var oldest) && time.GetElapsedTime(oldest) >= Window)
            times.Dequeue();
        return times.Count;
    }

    private sealed record Sender(AddressPrefix Key, Queue<long> Times);
}
