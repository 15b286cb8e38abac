using System.Threading.Channels;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>
/// Wakes the worker and delays two kinds of items. An item that found no provider waits twice as long each time (IMP-24). A file from a PUT waits three
/// seconds, because desktops and editors write it several times and only the last version counts (DAV-40a).
/// </summary>
/// <remarks>Thread-safe. Kept in memory, so a restart tries every item immediately.</remarks>
internal sealed class QueueSchedule(EventFeed events, TimeProvider time) : IDisposable
{
    private static readonly TimeSpan FirstRetry = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestRetry = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan HoldTime = TimeSpan.FromSeconds(3);

    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    // Guards the delays. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Wait> _waits = [];

    /// <summary>Wakes the worker. Several calls before its next check count as one.</summary>
    public void Wake() => _signal.Writer.TryWrite(true);

    /// <summary>Completes at the next <see cref="Wake"/>, or at once if one came since the last wait.</summary>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) => _signal.Reader.ReadAsync(cancellationToken);

    public bool IsWaiting(string id) => Find(id) is not null;

    public bool IsRetrying(string id) => Find(id) is { IsRetry: true };

    /// <summary>Delays an item that found no provider, then wakes the worker.</summary>
    public TimeSpan Retry(string id)
    {
        TimeSpan length;
        lock (_gate)
        {
            length = _waits.GetValueOrDefault(id) is { IsRetry: true } before ? before.Length * 2 : FirstRetry;
            length = Begin(id, new Wait(length < LongestRetry ? length : LongestRetry, isRetry: true));
        }

        events.Publish(QueueItemsChanged.Of(id));
        return length;
    }

    public IReadOnlyList<string> ListRetrying()
    {
        lock (_gate)
            return [.. _waits.Where(item => item.Value is { IsRetry: true, IsOver: false }).Select(item => item.Key)];
    }

    /// <summary>Ends and resets all provider delays, because a provider may be available now.</summary>
    public void RetryAll()
    {
        lock (_gate)
        {
            foreach (var (id, _) in _waits.Where(item => item.Value.IsRetry).ToList())
                Remove(id);
        }

        events.Publish(QueueItemsChanged.All);
        Wake();
    }

    /// <summary>Delays an item whose file may be written again, then wakes the worker.</summary>
    public void Hold(string id)
    {
        lock (_gate)
            Begin(id, new Wait(HoldTime, isRetry: false));
    }

    /// <summary>Ends and resets the delay of an item.</summary>
    public void Forget(string id)
    {
        lock (_gate)
            Remove(id);
    }

    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var id in _waits.Keys.ToList())
                Remove(id);
        }
    }

    private Wait? Find(string id)
    {
        lock (_gate)
            return _waits.GetValueOrDefault(id) is { IsOver: false } wait ? wait : null;
    }

    private TimeSpan Begin(string id, Wait wait)
    {
        Remove(id);
        wait.Timer = time.CreateTimer(_ => End(id, wait), null, wait.Length, Timeout.InfiniteTimeSpan);
        _waits[id] = wait;
        return wait.Length;
    }

    private void Remove(string id)
    {
        if (_waits.Remove(id, out var wait))
            wait.Timer?.Dispose();
    }

    // A timer calls this, because the wall clock may be set back.
    private void End(string id, Wait wait)
    {
        lock (_gate)
        {
            wait.IsOver = true;
            // Keep a provider delay after it ends, because the next delay is twice as long.
            if (!wait.IsRetry && _waits.GetValueOrDefault(id) == wait)
                Remove(id);
        }

        events.Publish(QueueItemsChanged.Of(id));
        Wake();
    }

    private sealed class Wait(TimeSpan length, bool isRetry)
    {
        public TimeSpan Length => length;

        public bool IsRetry => isRetry;

        public ITimer? Timer { get; set; }
        public bool IsOver { get; set; }
    }
}
