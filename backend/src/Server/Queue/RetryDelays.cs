namespace Sluice.Server.Queue;

/// <summary>Items that wait for a provider, each for twice as long as the time before (IMP-24).</summary>
/// <remarks>Thread-safe. Lives in memory: after a start every item is tried at once.</remarks>
internal sealed class RetryDelays(TimeProvider time, QueueSignal signal) : IDisposable
{
    private static readonly TimeSpan First = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan Longest = TimeSpan.FromMinutes(10);

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Wait> _waits = [];

    /// <summary>Lets an item wait and wakes the worker when its time has come.</summary>
    /// <returns>How long.</returns>
    public TimeSpan Start(string id)
    {
        lock (_gate)
        {
            var delay = First;
            if (_waits.Remove(id, out var before))
            {
                before.Timer?.Dispose();
                delay = before.Delay * 2 < Longest ? before.Delay * 2 : Longest;
            }

            var wait = new Wait(delay);
            wait.Timer = time.CreateTimer(_ => End(wait), null, delay, Timeout.InfiniteTimeSpan);
            _waits[id] = wait;
            return delay;
        }
    }

    /// <summary>Whether the time of an item has not come yet.</summary>
    public bool IsWaiting(string id)
    {
        lock (_gate)
            return _waits.TryGetValue(id, out var wait) && !wait.IsOver;
    }

    /// <summary>Ends every wait, because what the items wait for may have come; the next wait of each would be a first one.</summary>
    public void EndAll()
    {
        Dispose();
        signal.Set();
    }

    /// <summary>The item has ended one way or another; its next wait would be a first one.</summary>
    public void Forget(string id)
    {
        lock (_gate)
        {
            if (_waits.Remove(id, out var wait))
                wait.Timer?.Dispose();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var wait in _waits.Values)
                wait.Timer?.Dispose();
            _waits.Clear();
        }
    }

    // The timer alone says that the time has come: the clock of the wall may be set back, and nobody would ask again.
    private void End(Wait wait)
    {
        lock (_gate)
            wait.IsOver = true;
        signal.Set();
    }

    private sealed class Wait(TimeSpan delay)
    {
        public TimeSpan Delay => delay;

        public ITimer? Timer { get; set; }

        public bool IsOver { get; set; }
    }
}
