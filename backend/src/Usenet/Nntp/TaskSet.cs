namespace Sluice.Usenet.Nntp;

/// <summary>Background tasks that their owner awaits at the end. Thread-safe; the tasks never fail.</summary>
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

    /// <summary>Waits until all tasks have ended, including those added meanwhile.</summary>
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
