using System.Collections.Immutable;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>The work on an item at this moment.</summary>
/// <param name="Step">Name of the step.</param>
/// <param name="Percent">0 to 100 over the whole import; never falls.</param>
/// <param name="Began">Timestamp of when the work on the item began.</param>
internal sealed record ItemActivity(string Step, int Percent, long Began)
{
    /// <summary>The steps that have begun, in their order.</summary>
    public ImmutableList<StepActivity> Steps { get; init; } = [];
}

/// <summary>A step of the work on an item (IMP-25).</summary>
/// <param name="Step">Its name.</param>
/// <param name="Began">Timestamp of its begin.</param>
/// <param name="State">What has become of it.</param>
/// <param name="Milliseconds">How long it took; 0 until it has ended.</param>
/// <param name="Findings">What it has found; nothing until it has ended.</param>
internal sealed record StepActivity(string Step, long Began, StepState State, long Milliseconds, StepFindings Findings);

/// <summary>Which items are worked on, told as it happens. Lives in memory: after a start nothing is running.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class QueueActivity(EventFeed events)
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
        events.Publish(QueueItemsChanged.Of(id));
    }

    /// <summary>Work has come to a step and a share of the whole.</summary>
    public void Report(string id, string step, int percent)
    {
        var before = Change(id, activity => activity with { Step = step, Percent = Math.Max(percent, activity.Percent) });
        if (percent > before?.Percent)
            events.Publish(QueueItemsChanged.Of(id));
    }

    /// <summary>A step begins.</summary>
    /// <param name="id">The item.</param>
    /// <param name="step">Name of the step.</param>
    /// <param name="began">Timestamp of now.</param>
    public void BeginStep(string id, string step, long began)
    {
        Change(id, activity => activity with { Steps = activity.Steps.Add(new StepActivity(step, began, StepState.Started, 0, StepFindings.None)) });
        events.Publish(new JobStepEvent(id, step, StepState.Started, 0, StepFindings.None));
    }

    /// <summary>The step that began last has ended.</summary>
    /// <param name="happened">How.</param>
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

    /// <summary>Work on an item has ended.</summary>
    public void End(string id)
    {
        lock (_gate)
            _running = _running.Remove(id);
        events.Publish(QueueItemsChanged.Of(id));
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

        events.Publish(QueueItemsChanged.Of(id));
    }

    /// <returns>What the activity was before; null where there is none.</returns>
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
