using System.Collections.Concurrent;

namespace Sluice.Testing;

/// <summary>
/// Fails a run in which the exception of a task was never observed, because such a task is background work that nothing awaits. Each
/// test assembly has one for the duration of its run.
/// </summary>
public sealed class UnobservedExceptions : IDisposable
{
    private readonly ConcurrentQueue<AggregateException> _unobserved = new();

    public UnobservedExceptions() => TaskScheduler.UnobservedTaskException += Remember;

    /// <summary>Stops listening and throws if an exception was never observed.</summary>
    /// <exception cref="AggregateException">Tasks failed unobserved.</exception>
    public void Dispose()
    {
        // The runtime reports an unobserved task only when it collects its memory.
#pragma warning disable RS0030
        GC.Collect();
        GC.WaitForPendingFinalizers();
#pragma warning restore RS0030
        TaskScheduler.UnobservedTaskException -= Remember;
        if (!_unobserved.IsEmpty)
            throw new AggregateException("Tasks failed and were never awaited.", _unobserved);
    }

    private void Remember(object? sender, UnobservedTaskExceptionEventArgs e) => _unobserved.Enqueue(e.Exception);
}
