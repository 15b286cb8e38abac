namespace Sluice.Server.Auth;

/// <summary>Kinds of credentials. Each has a separate budget, so that one program's stale key does not block logins from the same address.</summary>
internal enum CredentialKind
{
    AdminPassword,

    SetupCode,

    NamedKey,

    ApiKey,

    WebDav,

    Link,

    /// <summary>The code of safe mode.</summary>
    RescueCode,
}

/// <summary>
/// Limits wrong guesses per minute and kind (DAV-32, DAV-83, S2): ten per sender, and 300 per trusted proxy, because a proxy may forward forged addresses.
/// Repeating a wrong credential counts once. Thread-safe. The number of remembered senders is bounded.
/// </summary>
internal sealed class FailureBudget(TimeProvider time, ILogger<FailureBudget> logger)
{
    /// <summary>Retry-After for a sender with no budget left, in seconds.</summary>
    public const string RetryAfterSeconds = "60";

    private readonly CredentialMark _mark = new();
    private readonly Dictionary<CredentialKind, Counts> _counts = Enum.GetValues<CredentialKind>().ToDictionary(kind => kind, _ => new Counts(time));

    /// <summary>Returns the MAC under which a wrong credential is remembered.</summary>
    public UInt128 Mark(string credential) => _mark.Of(credential);

    /// <summary>Whether the caller has no budget left, so that unknown credentials are refused without being checked.</summary>
    public bool IsSpent(CredentialKind kind, Caller caller) =>
        _counts[kind].Senders.IsBlocked(caller.Sender) || (ProxyOf(caller) is { } proxy && _counts[kind].Proxies.IsBlocked(proxy));

    /// <summary>Whether this sender has sent this wrong credential before.</summary>
    public bool WasWrong(CredentialKind kind, Caller caller, UInt128 mark) => _counts[kind].Senders.Remembers(caller.Sender, mark);

    /// <summary>Returns the number of recent failures. Senders with more failures are queued behind others.</summary>
    public int Rank(CredentialKind kind, Caller caller) => _counts[kind].Senders.Rank(caller.Sender);

    /// <summary>Counts a wrong credential that was checked without a slow hash. If false, the sender is throttled and must not learn the verdict.</summary>
    public bool TryAdd(CredentialKind kind, Caller caller, UInt128 mark)
    {
        if (WasWrong(kind, caller, mark))
            return true;
        if (IsSpent(kind, caller))
            return false;
        Add(kind, caller, mark);
        return true;
    }

    public void Add(CredentialKind kind, Caller caller, UInt128 mark)
    {
        _counts[kind].Senders.Add(caller.Sender, mark);
        if (ProxyOf(caller) is { } proxy)
            _counts[kind].Proxies.Add(proxy);
        AuthLog.Refused(logger, Name(kind), caller.Client);
    }

    /// <summary>The proxy whose budget is reduced too; null for a known browser.</summary>
    private static Sender? ProxyOf(Caller caller) => caller is { Browser: null, Proxy: { } proxy } ? new Sender(proxy) : null;

    private static string Name(CredentialKind kind) => kind switch
    {
        CredentialKind.AdminPassword => "username or password of the administrator",
        CredentialKind.SetupCode => "setup code",
        CredentialKind.RescueCode => "rescue code",
        CredentialKind.NamedKey => "named key",
        CredentialKind.ApiKey => "API key",
        CredentialKind.WebDav => "username or password",
        _ => "key of a link",
    };

    private sealed class Counts(TimeProvider time)
    {
        public FailureThrottle Senders { get; } = new(time, limit: 10, maxKeys: 10_000);

        public FailureThrottle Proxies { get; } = new(time, limit: 300, maxKeys: 256);
    }
}

/// <summary>Counts failures per sender over the last minute and remembers the latest wrong credentials. Thread-safe.</summary>
/// <param name="limit">Failures within a minute that block a sender.</param>
/// <param name="maxKeys">Maximum senders. Beyond it, the sender whose last failure is oldest is dropped.</param>
internal sealed class FailureThrottle(TimeProvider time, int limit, int maxKeys)
{
    // Enough for one household's clients with outdated credentials.
    private const int MaxMarks = 8;

    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    // Must outlast the first failures of many senders, because slow hashes run one at a time.
    private static readonly TimeSpan RankWindow = TimeSpan.FromHours(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<Sender, LinkedListNode<Entry>> _senders = [];

    // Ordered by last failure, oldest first.
    private readonly LinkedList<Entry> _order = new();

    public bool IsBlocked(Sender key) => Count(key) >= limit;

    /// <summary>Number of failures within the last minute, up to the limit.</summary>
    public int Count(Sender key)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) ? Trim(node.Value.Times) : 0;
    }

    /// <summary>Total failures of a sender; 0 if the last was over an hour ago.</summary>
    public int Rank(Sender key)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) && time.GetElapsedTime(node.Value.Last) < RankWindow ? node.Value.Total : 0;
    }

    public bool Remembers(Sender key, UInt128 mark)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) && node.Value.Marks.Contains(mark);
    }

    /// <summary>Records a failure and the wrong credential, unless that is null.</summary>
    public void Add(Sender key, UInt128? mark = null)
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
                _senders[key] = node = new LinkedListNode<Entry>(new Entry(key));
            }

            _order.AddLast(node);
            node.Value.Add(time.GetTimestamp(), Rank(key), mark);
            if (Trim(node.Value.Times) > limit)
                node.Value.Times.Dequeue();
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

    /// <summary>The failures of one sender; guarded by _lock.</summary>
    private sealed class Entry(Sender key)
    {
        public Sender Key { get; } = key;

        public Queue<long> Times { get; } = new();

        public Queue<UInt128> Marks { get; } = new();

        public long Last { get; private set; }

        public int Total { get; private set; }

        public void Add(long now, int before, UInt128? mark)
        {
            Last = now;
            Total = before + 1;
            Times.Enqueue(now);
            if (mark is not { } wrong || Marks.Contains(wrong))
                return;
            if (Marks.Count == MaxMarks)
                Marks.Dequeue();
            Marks.Enqueue(wrong);
        }
    }
}
