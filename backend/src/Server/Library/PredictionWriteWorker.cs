using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>
/// Clears verified predictions in the database, so that a restart does not fetch the same heads again. Also queues releases in which a reader waits for heads
/// (IMP-52). Writes in batches, so that reads never wait for the database. Thread-safe. <c>_gate</c> guards the pending work and is not held during calls. If
/// writes fail, volumes beyond <see cref="MaxPending"/> are dropped and verified again later.
/// </summary>
internal sealed class PredictionWriteWorker(LibraryStore store, ProofQueue queue, SluiceDatabase database, TimeProvider time) : IWorker
{
    private const int MaxPending = 100_000;

    // Small, because other writes wait for a batch. A batch takes about ten milliseconds.
    private const int BatchSize = 1000;

    private static readonly TimeSpan BatchDelay = TimeSpan.FromSeconds(1);

    private readonly WakeSignal _wake = new(time);
    private readonly Lock _gate = new();
    private readonly Queue<(Release Release, PredictedVolume Volume)> _proved = new();
    private readonly HashSet<Release> _sought = [];

    public string Name => "prediction results";

    /// <summary>Queues verified volumes for the next write. Each ordinal is <see cref="PredictedVolume.Posted"/>.</summary>
    public void ReportProved(Release release, IReadOnlyList<PredictedVolume> volumes)
    {
        lock (_gate)
        {
            foreach (var volume in volumes.Take(MaxPending - _proved.Count))
                _proved.Enqueue((release, volume));
        }

        _wake.Set();
    }

    /// <summary>Queues a release for background verification, because a reader waits for its heads.</summary>
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
            // A failed write leaves pending work but sets no signal, so check before waiting.
            if (IsEmpty())
                await _wake.WaitAsync(longest: null, stopping);
            await Task.Delay(BatchDelay, time, stopping);
            await WriteAsync(stopping);
        }
    }

    /// <summary>Writes the remaining work at shutdown.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => WriteAsync(cancellationToken);

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        while (!IsEmpty())
        {
            List<(Release Release, PredictedVolume Volume)> proved;
            List<Release> sought;
            lock (_gate)
                (proved, sought) = ([.. _proved.Take(BatchSize)], [.. _sought]);

            // Safe mode forbids writes. These volumes are verified again after the next startup.
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
