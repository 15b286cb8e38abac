using System.Collections.Concurrent;
using Microsoft.Extensions.DependencyInjection;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Steps;

namespace Sluice.Server.Tests.Queue;

/// <summary>A step that holds matching items until it is opened or their import is canceled.</summary>
internal sealed class GateStep(Func<QueueItem, bool> holds) : IImportStep
{
    private readonly TaskCompletionSource _open = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly ConcurrentDictionary<string, int> _runs = new();

    public string Name { get; init; } = "Gate";

    public int Weight => 10;

    /// <summary>Lets all items pass.</summary>
    public void Open() => _open.TrySetResult();

    /// <summary>Number of times that the step has started for an item.</summary>
    public int Runs(string id) => _runs.GetValueOrDefault(id);

    /// <summary>Waits until the step has started this many times.</summary>
    public async Task WaitForAsync(string id, int runs, CancellationToken cancellationToken)
    {
        while (Runs(id) < runs)
            await Task.Delay(TimeSpan.FromMilliseconds(10), TimeProvider.System, cancellationToken);
    }

    /// <summary>Inserts it before the step of a type, or at the end if there is none.</summary>
    public void InsertBefore(IServiceCollection services, Type? step)
    {
        var at = services.ToList().FindIndex(service => service.ServiceType == typeof(IImportStep) && service.ImplementationType == step);
        services.Insert(at < 0 ? services.Count : at, ServiceDescriptor.Singleton<IImportStep>(this));
    }

    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        _runs.AddOrUpdate(work.Item.Id, 1, (_, runs) => runs + 1);
        if (holds(work.Item))
            await _open.Task.WaitAsync(cancellationToken);
        return null;
    }
}
