using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>
/// The one runner of all work in the background. Work that throws is a line in the log, waits from one second up to a minute and runs
/// again; whatever it throws, the process goes on.
/// </summary>
internal sealed class BackgroundWork(IEnumerable<IWorker> workers, TimeProvider time, ILogger<BackgroundWork> logger) : IHostedService, IAsyncDisposable
{
    /// <summary>Shortest wait before work that broke runs again.</summary>
    public static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1);

    /// <summary>Longest wait; work that ran for as long begins with the shortest again.</summary>
    public static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // For workers of a start that failed further on, which no stop has ended.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(5);

    private readonly IReadOnlyList<IWorker> _workers = [.. workers];
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    /// <inheritdoc/>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var worker in _workers)
            await TryAsync(worker, worker.PrepareAsync, cancellationToken);
        // On the pool, so that no worker holds up the start before its first await.
        _running = Task.WhenAll(_workers.Select(worker => Task.Run(() => SuperviseAsync(worker), CancellationToken.None)));
    }

    /// <inheritdoc/>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        try
        {
            await _running.WaitAsync(cancellationToken);
            // In reverse: a worker may use those registered before it.
            foreach (var worker in _workers.Reverse())
                await TryAsync(worker, worker.FinishAsync, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The time for stopping is over; workers that still run end with the process.
        }
    }

    /// <inheritdoc/>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await Task.WhenAny(_running, Task.Delay(EndLimit, time));
        _stopping.Dispose();
    }

    private async Task SuperviseAsync(IWorker worker)
    {
        var pause = FirstPause;
        var said = "";
        while (true)
        {
            var began = time.GetTimestamp();
            try
            {
                await worker.RunAsync(_stopping.Token);
                return;
            }
            catch (OperationCanceledException) when (_stopping.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                if (time.GetElapsedTime(began) >= LongestPause)
                    pause = FirstPause;
                said = Say(worker, e, said, pause);
            }

            try
            {
                await Task.Delay(pause, time, _stopping.Token);
            }
            catch (OperationCanceledException)
            {
                return;
            }

            pause = pause * 2 < LongestPause ? pause * 2 : LongestPause;
        }
    }

    /// <summary>A cause that stays is an error once and then a detail (F46). The storage tells of its faults itself.</summary>
    private string Say(IWorker worker, Exception failure, string said, TimeSpan pause)
    {
        var cause = $"{failure.GetType().Name}: {failure.Message}";
        if (failure is StorageException || cause == said)
            DiagnosticsLog.WorkStillBreaks(logger, worker.Name, pause.TotalSeconds, cause);
        else
            DiagnosticsLog.WorkBroke(logger, failure, worker.Name, pause.TotalSeconds);
        return cause;
    }

    private async Task TryAsync(IWorker worker, Func<CancellationToken, Task> part, CancellationToken cancellationToken)
    {
        try
        {
            await part(cancellationToken);
        }
        catch (Exception e) when (e is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
        {
            DiagnosticsLog.PartBroke(logger, e, worker.Name);
        }
    }
}
