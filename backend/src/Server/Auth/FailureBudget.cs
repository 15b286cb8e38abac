namespace Sluice.Server.Auth;

/// <summary>
/// What may be guessed in a minute: passwords, keys and keys of links together (DAV-32, DAV-83, S2). Ten failures of one sender,
/// whatever user they name; and 300 that come through one trusted proxy, which may pass on addresses that its clients made up.
/// </summary>
/// <remarks>Thread-safe; remembers a bounded number of senders.</remarks>
internal sealed class FailureBudget(TimeProvider time, ILogger<FailureBudget> logger)
{
    /// <summary>What a sender is told to wait when its budget is used up, in seconds.</summary>
    public const string RetryAfterSeconds = "60";

    private readonly FailureThrottle _clients = new(time, limit: 10, maxKeys: 10_000);
    private readonly FailureThrottle _proxies = new(time, limit: 300, maxKeys: 256);

    /// <summary>Whether nothing of this caller is looked at but what is known to have been right.</summary>
    public bool IsSpent(Caller caller) => _clients.IsBlocked(caller.Client) || (caller.Proxy is { } proxy && _proxies.IsBlocked(proxy));

    /// <summary>Failures of the client in the last minute.</summary>
    public int Failures(Caller caller) => _clients.Count(caller.Client);

    /// <summary>Counts a failure.</summary>
    /// <param name="caller">Whose.</param>
    /// <param name="what">What was wrong, for the log.</param>
    public void Add(Caller caller, string what)
    {
        _clients.Add(caller.Client);
        if (caller.Proxy is { } proxy)
            _proxies.Add(proxy);
        AuthLog.Refused(logger, what, caller.Client);
    }
}
