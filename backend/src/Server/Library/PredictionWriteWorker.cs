using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Library;

/// <summary>
/// Takes predictions away that were found to be true, so that no start pays for the same heads again, and hands releases that readers seek in to
/// the background (IMP-52). Written in batches, off the way of the reads.
/// </summary>
/// <remarks>
/// Thread-safe. <c>_gate</c> guards what is not written yet; nothing is called under it. Volumes beyond <see cref="MostWaiting"/>,
/// which only a database that takes nothing makes possible, are found again.
/// </remarks>
internal sealed class PredictionWriteWorker(LibraryStore store, ProofQueue queue, SluiceDatabase database, TimeProvider time) : IWorker
{
    private const int MostWaiting = 100_000;

    // Other writes wait for a batch: this many take some ten milliseconds.
    private const int MostAtOnce = 1000;

    private static readonly TimeSpan Gathering = TimeSpan.FromSeconds(1);

    private readonly WakeSignal _wake = new(time);
    private readonly Lock _gate = new();
    private readonly Queue<(Release Release, PredictedVolume Volume)> _proved = new();
    private readonly HashSet<Release> _sought = [];

    /// <inheritdoc/>
    public string Name => "what was found about predicted volumes";

    /// <summary>The predictions of these volumes hold. Each ordinal is <see cref="PredictedVolume.Posted"/>.</summary>
    public void NoteProved(Release release, IReadOnlyList<PredictedVolume> volumes)
    {
        lock (_gate)
        {
            foreach (var volume in volumes.Take(MostWaiting - _proved.Count))
                _proved.Enqueue((release, volume));
        }

        _wake.Set();
    }

    /// <summary>A reader waits for heads of a release that the background could have fetched.</summary>
    public void NoteSought(Release release)
    {
        lock (_gate)
        {
            if (_sought.Count < MostWaiting)
                _sought.Add(release);
        }

        _wake.Set();
    }

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        while (true)
        {
            // What a failure has left here wakes the loop no more.
            if (IsEmpty())
                await _wake.WaitAsync(longest: null, stopping);
            await Task.Delay(Gathering, time, stopping);
            await WriteAsync(stopping);
        }
    }

    /// <summary>Writes the last ones when everything has stopped.</summary>
    public Task FinishAsync(CancellationToken cancellationToken) => WriteAsync(cancellationToken);

    private async Task WriteAsync(CancellationToken cancellationToken)
    {
        while (!IsEmpty())
        {
            List<(Release Release, PredictedVolume Volume)> proved;
            List<Release> sought;
            lock (_gate)
                (proved, sought) = ([.. _proved.Take(MostAtOnce)], [.. _sought]);

            // In safe mode nothing may be written; the next start finds all of it again.
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
