using System.Threading.Channels;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>
/// When the worker looks at the queue, and which items it passes over for now: items that wait for a provider, each for twice as
/// long as the time before (IMP-24), and items put as files, which wait for three seconds because desktops and editors write a
/// file several times in a row and only the last version is meant (DAV-40a).
/// </summary>
/// <remarks>Thread-safe. Lives in memory: after a start every item is tried at once.</remarks>
internal sealed class QueueSchedule(EventFeed events, TimeProvider time) : IDisposable
{
    private static readonly TimeSpan FirstRetry = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan LongestRetry = TimeSpan.FromMinutes(10);
    private static readonly TimeSpan HoldTime = TimeSpan.FromSeconds(3);

    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    // Guards the table and the waits in it. Nothing is locked below it.
    private readonly Lock _gate = new();
    private readonly Dictionary<string, Wait> _waits = [];

    /// <summary>Wakes the worker. Several calls before it looks are one.</summary>
    public void Wake() => _signal.Writer.TryWrite(true);

    /// <summary>Completes at the next call of <see cref="Wake"/>, or at once when one came since the last wait.</summary>
    public ValueTask<bool> WaitAsync(CancellationToken cancellationToken) => _signal.Reader.ReadAsync(cancellationToken);

    /// <summary>Whether work on an item has to wait.</summary>
    public bool IsWaiting(string id) => Find(id) is not null;

    /// <summary>Whether an item waits for a provider.</summary>
    public bool IsRetrying(string id) => Find(id) is { IsRetry: true };

    /// <summary>Lets an item wait for a provider and wakes the worker when its time has come.</summary>
    /// <returns>How long.</returns>
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

    /// <summary>The items that wait for a provider.</summary>
    public IReadOnlyList<string> ListRetrying()
    {
        lock (_gate)
            return [.. _waits.Where(item => item.Value is { IsRetry: true, IsOver: false }).Select(item => item.Key)];
    }

    /// <summary>Ends every wait for a provider, because one may have come; the next wait of each item would be a first one.</summary>
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

    /// <summary>Keeps work from starting on an item whose file may be written again, and wakes the worker when the time is over.</summary>
    public void Hold(string id)
    {
        lock (_gate)
            Begin(id, new Wait(HoldTime, isRetry: false));
    }

    /// <summary>The item has ended one way or another; its next wait for a provider would be a first one.</summary>
    public void Forget(string id)
    {
        lock (_gate)
            Remove(id);
    }

    /// <inheritdoc/>
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

    // The end of a wait is an event of its timer, not a comparison with the wall clock, which may be set back.
    private void End(string id, Wait wait)
    {
        lock (_gate)
        {
            wait.IsOver = true;
            // A wait for a provider stays, because the next one is twice as long.
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
