using Sluice.Server.Database;

namespace Sluice.Server.Diagnostics;

/// <summary>Runs all background workers. Logs a failed worker and restarts it after one second to a minute, so that no exception ends the process.</summary>
internal sealed class BackgroundWork(IEnumerable<IWorker> workers, TimeProvider time, ILogger<BackgroundWork> logger) : IHostedService, IAsyncDisposable
{
    public static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1);

    /// <summary>Maximum delay before a restart. A worker that has run for this long restarts with the first delay.</summary>
    public static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Applies after a failed startup, because the workers were never asked to stop.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(5);

    private readonly IReadOnlyList<IWorker> _workers = [.. workers];
    private readonly CancellationTokenSource _stopping = new();
    private Task _running = Task.CompletedTask;

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        foreach (var worker in _workers)
            await TryAsync(worker, worker.PrepareAsync, cancellationToken);
        // Start on the thread pool, so that no worker delays startup before its first await.
        _running = Task.WhenAll(_workers.Select(worker => Task.Run(() => SuperviseAsync(worker), CancellationToken.None)));
    }

    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await _stopping.CancelAsync();
        try
        {
            await _running.WaitAsync(cancellationToken);
            // Finish in reverse order, because a worker may use workers registered before it.
            foreach (var worker in _workers.Reverse())
                await TryAsync(worker, worker.FinishAsync, cancellationToken);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            // The shutdown timeout has passed, so the remaining workers end with the process.
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync();
        await Task.WhenAny(_running, Task.Delay(EndLimit, time));
        _stopping.Dispose();
    }

    private async Task SuperviseAsync(IWorker worker)
    {
        var pause = FirstPause;
        var logged = "";
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
                logged = LogFailure(worker, e, logged, pause);
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

    /// <summary>Logs a repeated cause as an error only once (F46). Storage faults are already logged elsewhere.</summary>
    private string LogFailure(IWorker worker, Exception failure, string logged, TimeSpan pause)
    {
        var cause = $"{failure.GetType().Name}: {failure.Message}";
        if (failure is StorageException || cause == logged)
            DiagnosticsLog.WorkFailedAgain(logger, worker.Name, pause.TotalSeconds, cause);
        else
            DiagnosticsLog.WorkFailed(logger, failure, worker.Name, pause.TotalSeconds);
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
            DiagnosticsLog.StepFailed(logger, e, worker.Name);
        }
    }
}
