namespace Sluice.Server.Queue;

/// <summary>
/// Items that came as files and whose work waits for three seconds: desktops and editors write a file several times in a row, and
/// only the last of these is meant (DAV-40a).
/// </summary>
/// <remarks>Thread-safe. Lives in memory: after a start nobody is still writing.</remarks>
internal sealed class StartHolds(TimeProvider time, QueueSignal signal) : IDisposable
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(3);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, ITimer> _holds = [];

    /// <summary>Keeps work from starting on an item, and wakes the worker when the time is over.</summary>
    public void Hold(string id)
    {
        lock (_gate)
            _holds[id] = time.CreateTimer(_ => Release(id), null, Length, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Whether the time of an item has not come yet.</summary>
    public bool IsHeld(string id)
    {
        lock (_gate)
            return _holds.ContainsKey(id);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var timer in _holds.Values)
                timer.Dispose();
            _holds.Clear();
        }
    }

    private void Release(string id)
    {
        lock (_gate)
        {
            if (_holds.Remove(id, out var timer))
                timer.Dispose();
        }

        signal.Set();
    }
}
