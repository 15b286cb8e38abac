using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>
/// Clears proved predictions, so that no start fetches the same heads again. Queues releases with seeking readers for the background (IMP-52). Writes
/// in batches, so that reads never wait for the database.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards the pending work; nothing is called under it. Volumes beyond <see cref="MaxPending"/>, possible only while the
/// database accepts no writes, are dropped and proved again later.
/// </remarks>
internal sealed class PredictionWriteWorker(LibraryStore store, ProofQueue queue, SluiceDatabase database, TimeProvider time) : IWorker
{
    private const int MaxPending = 100_000;

    // Other writes wait for a batch. This many rows take about ten milliseconds.
    private const int BatchSize = 1000;

    private static readonly TimeSpan BatchDelay = TimeSpan.FromSeconds(1);

    private readonly WakeSignal _wake = new(time);
    private readonly Lock _gate = new();
    private readonly Queue<(Release Release, PredictedVolume Volume)> _proved = new();
    private readonly HashSet<Release> _sought = [];

    public string Name => "prediction results";

    /// <summary>Queues proved volumes to be stored. Each ordinal is <see cref="PredictedVolume.Posted"/>.</summary>
    public void ReportProved(Release release, IReadOnlyList<PredictedVolume> volumes)
    {
        lock (_gate)
        {
            foreach (var volume in volumes.Take(MaxPending - _proved.Count))
                _proved.Enqueue((release, volume));
        }

        _wake.Set();
    }

    /// <summary>Queues a release because a reader waits for heads that the background could have fetched.</summary>
    public void ReportSought(Release release)
    {
        lock (_gate)
        {
            if (_sought.Count < MaxPending)
                _sought.Add(release);
        }

        _wake.Set();
    }

    public async Task RunAsync(CancellationToken stopping)
    {
        while (true)
        {
            // Work left by a failed write sets no signal, so check before waiting.
            if (IsEmpty())
                await _wake.WaitAsync(longest: null, stopping);
            await Task.Delay(BatchDelay, time, stopping);
            await WriteAsync(stopping);
        }
    }

    /// <summary>Writes the remaining results at shutdown.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => WriteAsync(cancellationToken);

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        while (!IsEmpty())
        {
            List<(Release Release, PredictedVolume Volume)> proved;
            List<Release> sought;
            lock (_gate)
                (proved, sought) = ([.. _proved.Take(BatchSize)], [.. _sought]);

            // Safe mode forbids writes. The next start proves everything again.
            if (database.IsOpen && proved.Count > 0)
                await store.ConfirmAsync(proved, cancellationToken);
            if (database.IsOpen && sought.Count > 0)
                await queue.AddAsync(sought, cancellationToken);
            lock (_gate)
            {
                for (var i = 0; i < proved.Count; i++)
                    _proved.Dequeue();
                _sought.ExceptWith(sought);
            }
        }
    }

    private bool IsEmpty()
    {
        lock (_gate)
            return _proved.Count == 0 && _sought.Count == 0;
    }
}
