namespace Sluice.Server.Auth;

/// <summary>
/// Kinds of credentials. Failures are counted for each kind apart, so that a stale key of a program does not lock its home out of the login.
/// </summary>
internal enum CredentialKind
{
    /// <summary>User and password of the administrator.</summary>
    AdminPassword,

    /// <summary>The code of the setup.</summary>
    SetupCode,

    /// <summary>A named key of the admin API.</summary>
    NamedKey,

    /// <summary>A key of the SABnzbd API.</summary>
    ApiKey,

    /// <summary>User and password of the tree.</summary>
    WebDav,

    /// <summary>The key of a link.</summary>
    Link,
}

/// <summary>
/// Limits guesses per minute and kind of credential (DAV-32, DAV-83, S2): ten of one sender under any user name, and 300 through one trusted
/// proxy, which may pass on addresses that its clients made up. A wrong credential that the same sender brought before is no new guess.
/// </summary>
/// <remarks>Thread-safe; remembers a bounded number of senders.</remarks>
internal sealed class FailureBudget(TimeProvider time, ILogger<FailureBudget> logger)
{
    /// <summary>The Retry-After of a sender whose budget is used up, in seconds.</summary>
    public const string RetryAfterSeconds = "60";

    private readonly CredentialMark _mark = new();
    private readonly Dictionary<CredentialKind, Counts> _counts = Enum.GetValues<CredentialKind>().ToDictionary(kind => kind, _ => new Counts(time));

    /// <summary>The form in which a wrong credential is remembered.</summary>
    public UInt128 Mark(string credential) => _mark.Of(credential);

    /// <summary>Whether new credentials of this caller are refused unseen.</summary>
    public bool IsSpent(CredentialKind kind, Caller caller) =>
        _counts[kind].Senders.IsBlocked(caller.Sender) || (ProxyOf(caller) is { } proxy && _counts[kind].Proxies.IsBlocked(proxy));

    /// <summary>Whether this sender brought this credential before, and it was wrong.</summary>
    public bool WasWrong(CredentialKind kind, Caller caller, UInt128 mark) => _counts[kind].Senders.Remembers(caller.Sender, mark);

    /// <summary>Failures of the sender, as long as they keep it behind those that have none.</summary>
    public int Rank(CredentialKind kind, Caller caller) => _counts[kind].Senders.Rank(caller.Sender);

    /// <summary>Counts a wrong credential that costs nothing to judge, unless this sender brought it before.</summary>
    /// <returns>False if the sender has to wait: then it is not told that the credential is wrong.</returns>
    public bool TryAdd(CredentialKind kind, Caller caller, UInt128 mark)
    {
        if (WasWrong(kind, caller, mark))
            return true;
        if (IsSpent(kind, caller))
            return false;
        Add(kind, caller, mark);
        return true;
    }

    /// <summary>Counts a wrong credential.</summary>
    public void Add(CredentialKind kind, Caller caller, UInt128 mark)
    {
        _counts[kind].Senders.Add(caller.Sender, mark);
        if (ProxyOf(caller) is { } proxy)
            _counts[kind].Proxies.Add(proxy);
        AuthLog.Refused(logger, Name(kind), caller.Client);
    }

    /// <summary>The proxy that answers for a caller too: for none that is known by itself.</summary>
    private static Sender? ProxyOf(Caller caller) => caller is { Browser: null, Proxy: { } proxy } ? new Sender(proxy) : null;

    private static string Name(CredentialKind kind) => kind switch
    {
        CredentialKind.AdminPassword => "user or password of the administrator",
        CredentialKind.SetupCode => "setup code",
        CredentialKind.NamedKey => "named key",
        CredentialKind.ApiKey => "API key",
        CredentialKind.WebDav => "user or password",
        _ => "key of a link",
    };

    private sealed class Counts(TimeProvider time)
    {
        public FailureThrottle Senders { get; } = new(time, limit: 10, maxKeys: 10_000);

        public FailureThrottle Proxies { get; } = new(time, limit: 300, maxKeys: 256);
    }
}

/// <summary>Counts failures by sender over the last minute, and remembers the latest wrong credentials of each.</summary>
/// <param name="time">The clock.</param>
/// <param name="limit">Failures after which a sender is blocked, until the oldest of them is a minute old.</param>
/// <param name="maxKeys">Senders remembered; beyond that the sender with the oldest last failure is forgotten.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed class FailureThrottle(TimeProvider time, int limit, int maxKeys)
{
    // The stale credentials of one home.
    private const int MaxMarks = 8;

    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    // Longer than many guessers need to fail once each, one slow hash after the other.
    private static readonly TimeSpan RankWindow = TimeSpan.FromHours(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<Sender, LinkedListNode<Entry>> _senders = [];

    // In the order of their last failures.
    private readonly LinkedList<Entry> _order = new();

    /// <summary>Whether the sender has to wait.</summary>
    public bool IsBlocked(Sender key) => Count(key) >= limit;

    /// <summary>Failures of the last minute, up to the limit.</summary>
    public int Count(Sender key)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) ? Trim(node.Value.Times) : 0;
    }

    /// <summary>All failures of a sender; 0 an hour after the last.</summary>
    public int Rank(Sender key)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) && time.GetElapsedTime(node.Value.Last) < RankWindow ? node.Value.Total : 0;
    }

    /// <summary>Whether a credential is among the latest that were wrong.</summary>
    public bool Remembers(Sender key, UInt128 mark)
    {
        lock (_lock)
            return _senders.TryGetValue(key, out var node) && node.Value.Marks.Contains(mark);
    }

    /// <summary>Remembers a failure, and the credential unless it is null.</summary>
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

    /// <summary>One sender; guarded by the lock of the throttle.</summary>
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
