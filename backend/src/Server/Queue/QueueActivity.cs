using System.Collections.Immutable;

namespace Sluice.Server.Queue;

/// <summary>The work on an item at this moment.</summary>
/// <param name="Step">Name of the step.</param>
/// <param name="Percent">0 to 100 over the whole import; never falls.</param>
/// <param name="Began">Timestamp of when the work on the item began.</param>
internal sealed record ItemActivity(string Step, int Percent, long Began);

/// <summary>Which items are worked on. Lives in memory: after a start nothing is running.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class QueueActivity
{
    // Guards the field; readers get immutable copies.
    private readonly Lock _gate = new();
    private ImmutableDictionary<string, Running> _running = ImmutableDictionary<string, Running>.Empty;

    /// <summary>Items being worked on, by id, but for those whose work was cancelled and has not ended yet.</summary>
    public IReadOnlyDictionary<string, ItemActivity> Current
    {
        get
        {
            var running = Volatile.Read(ref _running);
            return running.Where(pair => !pair.Value.IsCancelled).ToImmutableDictionary(pair => pair.Key, pair => pair.Value.Activity);
        }
    }

    /// <summary>Work on an item begins.</summary>
    /// <param name="id">The item.</param>
    /// <param name="step">First step.</param>
    /// <param name="began">Timestamp of now.</param>
    /// <param name="cancel">Ends the work.</param>
    public void Begin(string id, string step, long began, CancellationTokenSource cancel)
    {
        lock (_gate)
            _running = _running.SetItem(id, new Running(new ItemActivity(step, 0, began), cancel));
    }

    /// <summary>Work has come to a step and a share of the whole.</summary>
    public void Report(string id, string step, int percent)
    {
        lock (_gate)
        {
            if (_running.TryGetValue(id, out var running))
            {
                var activity = running.Activity with { Step = step, Percent = Math.Max(percent, running.Activity.Percent) };
                _running = _running.SetItem(id, running with { Activity = activity });
            }
        }
    }

    /// <summary>Work on an item has ended.</summary>
    public void End(string id)
    {
        lock (_gate)
            _running = _running.Remove(id);
    }

    /// <summary>Ends the work on an item, if there is any, at its next wait. A transaction that has begun is carried through.</summary>
    public void Cancel(string id)
    {
        Running? running;
        lock (_gate)
        {
            if (!_running.TryGetValue(id, out running))
                return;
            _running = _running.SetItem(id, running with { IsCancelled = true });
        }

        try
        {
            running.Cancel.Cancel();
        }
        catch (ObjectDisposedException)
        {
            // The work has just ended by itself.
        }
    }

    private sealed record Running(ItemActivity Activity, CancellationTokenSource Cancel)
    {
        public bool IsCancelled { get; init; }
    }
}
