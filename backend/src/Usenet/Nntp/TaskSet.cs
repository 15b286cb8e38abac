namespace Sluice.Usenet.Nntp;

/// <summary>Work in the background that its owner awaits at the end. Thread-safe; the tasks never fail.</summary>
internal sealed class TaskSet
{
    private readonly Lock _gate = new();
    private readonly HashSet<Task> _tasks = [];

    public void Add(Task task)
    {
        lock (_gate)
        {
            if (task.IsCompleted)
                return;
            _tasks.Add(task);
        }

        task.ContinueWith(
            static (ended, state) => ((TaskSet)state!).Remove(ended),
            this,
            CancellationToken.None,
            TaskContinuationOptions.ExecuteSynchronously,
            TaskScheduler.Default);
    }

    /// <summary>Waits until all have ended, those included that are added in the meantime.</summary>
    public async Task WhenAllAsync()
    {
        while (Current() is { Length: > 0 } tasks)
            await Task.WhenAll(tasks);
    }

    private Task[] Current()
    {
        lock (_gate)
            return [.. _tasks];
    }

    private void Remove(Task task)
    {
        lock (_gate)
            _tasks.Remove(task);
    }
}
