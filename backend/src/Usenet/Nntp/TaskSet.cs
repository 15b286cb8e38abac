namespace Sluice.Usenet.Nntp;

/// <summary>Work in the background that somebody awaits at the end. Thread-safe; the tasks never fail.</summary>
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

    public Task WhenAll()
    {
        lock (_gate)
            return Task.WhenAll(_tasks);
    }

    private void Remove(Task task)
    {
        lock (_gate)
            _tasks.Remove(task);
    }
}
