namespace Sluice.Server.Auth;

/// <summary>Counts failed attempts per key over the last minute; after ten the key is blocked until one of them is a minute old (S2).</summary>
/// <remarks>Thread-safe. Holds a bounded number of keys; the one whose last failure is the oldest goes first.</remarks>
internal sealed class FailureThrottle(TimeProvider time)
{
    /// <summary>What a blocked client is told to wait, in seconds.</summary>
    public const string RetryAfterSeconds = "60";

    private const int MaxFailures = 10;
    private const int MaxKeys = 10_000;
    private const int MaxKeyLength = 160;
    private static readonly TimeSpan Window = TimeSpan.FromMinutes(1);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Queue<long>> _failures = [];

    /// <summary>Whether the key has to wait.</summary>
    public bool IsBlocked(string key)
    {
        lock (_lock)
            return _failures.TryGetValue(Shorten(key), out var times) && Trim(times) >= MaxFailures;
    }

    /// <summary>Remembers a failure.</summary>
    public void Add(string key)
    {
        key = Shorten(key);
        lock (_lock)
        {
            if (!_failures.TryGetValue(key, out var times))
            {
                MakeRoom();
                _failures[key] = times = new Queue<long>(MaxFailures);
            }

            if (Trim(times) >= MaxFailures)
                times.Dequeue();
            times.Enqueue(time.GetTimestamp());
        }
    }

    private int Trim(Queue<long> times)
    {
        while (times.TryPeek(out var oldest) && time.GetElapsedTime(oldest) >= Window)
            times.Dequeue();
        return times.Count;
    }

    private void MakeRoom()
    {
        if (_failures.Count < MaxKeys)
            return;

        foreach (var key in _failures.Where(entry => Trim(entry.Value) == 0).Select(entry => entry.Key).ToList())
            _failures.Remove(key);
        if (_failures.Count >= MaxKeys)
            _failures.Remove(_failures.MinBy(entry => entry.Value.Peek()).Key);
    }

    /// <summary>A key is partly the client's text; what is longer than any real one shares a place.</summary>
    private static string Shorten(string key) => key.Length <= MaxKeyLength ? key : key[..MaxKeyLength];
}
