using System.Collections.Immutable;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>Progress of a running import.</summary>
/// <param name="Percent">0 to 100 for the whole import; never decreases.</param>
/// <param name="Began">Timestamp of the start of the import.</param>
internal sealed record ItemActivity(string Step, int Percent, long Began)
{
    /// <summary>The steps started so far, in order.</summary>
    public ImmutableList<StepActivity> Steps { get; init; } = [];
}

/// <summary>A step of an import (IMP-25).</summary>
/// <param name="Milliseconds">Duration; 0 while the step runs.</param>
/// <param name="Findings">Its findings; empty while the step runs.</param>
internal sealed record StepActivity(string Step, long Began, StepState State, long Milliseconds, StepFindings Findings);

/// <summary>The running imports, in memory only. Publishes their progress. Thread-safe.</summary>
internal sealed class QueueActivity(EventFeed events)
{
    // Guards the field. Readers need no lock, because they get immutable copies.
    private readonly Lock _gate = new();
    private ImmutableDictionary<string, Running> _running = ImmutableDictionary<string, Running>.Empty;

    /// <summary>Running imports by item id, except canceled ones.</summary>
    public IReadOnlyDictionary<string, ItemActivity> Current
    {
        get
        {
            var running = Volatile.Read(ref _running);
            return running.Where(pair => !pair.Value.IsCancelled).ToImmutableDictionary(pair => pair.Key, pair => pair.Value.Activity);
        }
    }

    /// <summary>Records the start of an import.</summary>
    /// <param name="began">Current timestamp.</param>
    public void Begin(string id, string step, long began, CancellationTokenSource cancel)
    {
        lock (_gate)
            _running = _running.SetItem(id, new Running(new ItemActivity(step, 0, began), cancel));
        events.Publish(QueueItemsChanged.Of(id));
    }

    public void Report(string id, string step, int percent)
    {
        var before = Change(id, activity => activity with { Step = step, Percent = Math.Max(percent, activity.Percent) });
        if (percent > before?.Percent)
            events.Publish(QueueItemsChanged.Of(id));
    }

    public void BeginStep(string id, string step, long began)
    {
        Change(id, activity => activity with { Steps = activity.Steps.Add(new StepActivity(step, began, StepState.Started, 0, StepFindings.None)) });
        events.Publish(new JobStepEvent(id, step, StepState.Started, 0, StepFindings.None));
    }

    public void EndStep(JobStepEvent happened)
    {
        Change(happened.Id, activity => activity with
        {
            Steps = [.. activity.Steps.Select(step => step.Step != happened.Step
                ? step
                : step with { State = happened.State, Milliseconds = happened.Milliseconds, Findings = happened.Findings })],
        });
        events.Publish(happened);
    }

    public void End(string id)
    {
        lock (_gate)
            _running = _running.Remove(id);
        events.Publish(QueueItemsChanged.Of(id));
    }

    /// <summary>Cancels the import of an item if it is running. A transaction already in progress still commits.</summary>
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
            // The import has ended in the meantime.
        }

        events.Publish(QueueItemsChanged.Of(id));
    }

    /// <returns>The previous activity; null if the item is not running.</returns>
    private ItemActivity? Change(string id, Func<ItemActivity, ItemActivity> change)
    {
        lock (_gate)
        {
            if (!_running.TryGetValue(id, out var running))
                return null;
            _running = _running.SetItem(id, running with { Activity = change(running.Activity) });
            return running.Activity;
        }
    }

    private sealed record Running(ItemActivity Activity, CancellationTokenSource Cancel)
    {
        public bool IsCancelled { get; init; }
    }
}
