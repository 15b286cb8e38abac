using System.Collections.Concurrent;

namespace Sluice.Server.WebDav;

/// <summary>Logs refusals at most once a minute per client and path, because otherwise a scanner could flood the log. Thread-safe.</summary>
internal sealed class RefusalLog
{
    /// <summary>At this limit, all pairs are dropped. This bounds memory, but a line may be logged again early.</summary>
    private const int MaxPairs = 4096;

    private static readonly TimeSpan Interval = TimeSpan.FromMinutes(1);

    private readonly ConcurrentDictionary<(string Client, string Target), long> _lastLogged = new();
    private readonly TimeProvider _time;
    private readonly ILogger<RefusalLog> _log;

    public RefusalLog(TimeProvider time, ILogger<RefusalLog> log)
    {
        _time = time;
        _log = log;
    }

    public int Remembered => _lastLogged.Count;

    public void Note(HttpContext http, string target, int status)
    {
        var client = http.Connection.RemoteIpAddress?.ToString() ?? "unknown";
        var now = _time.GetTimestamp();
        if (_lastLogged.TryGetValue((client, target), out var last) && _time.GetElapsedTime(last, now) < Interval)
            return;
        if (_lastLogged.Count >= MaxPairs)
            _lastLogged.Clear();
        _lastLogged[(client, target)] = now;
        WebDavLog.Refused(_log, http.Request.Method, target, status, client);
    }
}
