namespace Sluice.Server.Queue;

/// <summary>Items that wait for a provider, each for twice as long as the time before (IMP-24).</summary>
/// <remarks>Used by the worker's loop and its timers.</remarks>
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
                before.Timer.Dispose();
                delay = before.Delay * 2 < Longest ? before.Delay * 2 : Longest;
            }

            _waits[id] = new Wait(delay, time.GetUtcNow() + delay, time.CreateTimer(_ => signal.Set(), null, delay, Timeout.InfiniteTimeSpan));
            return delay;
        }
    }

    /// <summary>Whether the time of an item has not come yet.</summary>
    public bool IsWaiting(string id)
    {
        lock (_gate)
            return _waits.TryGetValue(id, out var wait) && time.GetUtcNow() < wait.Until;
    }

    /// <summary>The item has ended one way or another; its next wait would be a first one.</summary>
    public void Forget(string id)
    {
        lock (_gate)
        {
            if (_waits.Remove(id, out var wait))
                wait.Timer.Dispose();
        }
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var wait in _waits.Values)
                wait.Timer.Dispose();
            _waits.Clear();
        }
    }

    private sealed record Wait(TimeSpan Delay, DateTimeOffset Until, ITimer Timer);
}
