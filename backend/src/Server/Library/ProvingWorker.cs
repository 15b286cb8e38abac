using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>
/// Verifies predicted volumes in advance, so that viewers need not wait (IMP-52): one head per volume unless PAR2 states its length. Releases are queued when
/// they are published and when a reader first seeks in an unverified one. Fetches one head at a time in the HealthCheck lane, never from backup providers.
/// Playback may use all but one of the lane's connections, and waiting readers go first. The remaining predictions are the worker's only state, so a restart
/// continues the work.
/// </summary>
internal sealed class ProvingWorker(
    ProofQueue queue,
    Predictions predictions,
    LibraryStore library,
    OpenReleases releases,
    SluiceDatabase database,
    TimeProvider time,
    ILogger<ProvingWorker> logger) : IWorker
{
    /// <summary>Maximum bytes per day (UTC): about 28,000 heads.</summary>
    public const long BytesPerDay = 20_000_000_000;

    // After this many heads, the cost is stored and a newer release may go first.
    private const int HeadsPerTurn = 128;

    // After a provider failure or a broken connection, other releases go first for this long.
    private static readonly TimeSpan RetryAfter = TimeSpan.FromMinutes(10);

    // By release: when an attempt failed, and the heads that are missing on every provider.
    private readonly Dictionary<long, long> _postponed = [];
    private readonly Dictionary<long, HashSet<int>> _lost = [];

    public string Name => "volume proofs";

    public async Task RunAsync(CancellationToken stopping)
    {
        // Safe mode lasts until the next startup, so stop.
        while (database.IsOpen)
        {
            foreach (var due in _postponed.Where(release => time.GetElapsedTime(release.Value) >= RetryAfter).Select(release => release.Key).ToList())
                _postponed.Remove(due);
            var now = time.WallTime().UtcDateTime;
            if (await GetBytesLeftAsync(now, stopping) <= 0)
                await Task.Delay(now.Date.AddDays(1) - now, time, stopping);
            else if (await queue.FindNextAsync(_postponed.Keys, stopping) is { } release)
                await ProveReleaseAsync(release, now, stopping);
            else
                await queue.Added.WaitAsync(_postponed.Count > 0 ? RetryAfter : null, stopping);
        }
    }

    private async Task<long> GetBytesLeftAsync(DateTime now, CancellationToken cancellationToken) =>
        BytesPerDay - await queue.GetCostAsync(DateOnly.FromDateTime(now), cancellationToken);

    private async Task ProveReleaseAsync(Release release, DateTime now, CancellationToken cancellationToken)
    {
        try
        {
            if (await ProveSomeAsync(release, now, cancellationToken))
                return;
        }
        catch (RefutedExtentException)
        {
            // The release will be mapped again, which reads every head, so nothing is left to verify.
        }
        catch (StoredNzbLostException lost)
        {
            LibraryLog.NotProved(logger, release.Id, lost.Message);
        }
        catch (Exception failure) when (failure is NntpException or IOException)
        {
            LibraryLog.NotProved(logger, release.Id, failure.Message);
            _postponed[release.Id] = time.GetTimestamp();
            return;
        }

        _lost.Remove(release.Id);
        await queue.RemoveAsync(release, cancellationToken);
    }

    /// <summary>Verifies the next volumes of a release. Returns whether more may be left.</summary>
    private async Task<bool> ProveSomeAsync(Release release, DateTime now, CancellationToken cancellationToken)
    {
        var stored = await library.GetPredictedFilesAsync(release, cancellationToken);
        if (stored.Count == 0)
            return false;
        using var ids = await releases.OpenAsync(release.NzbHash, cancellationToken);
        var (left, heads, cost) = (await GetBytesLeftAsync(now, cancellationToken), 0, 0L);
        try
        {
            foreach (var proof in predictions.InBackground(release, stored, ids))
            {
                foreach (var (volume, file) in proof.Open)
                {
                    if (_lost.TryGetValue(release.Id, out var lost) && lost.Contains(volume.Posted))
                        continue;
                    if (heads++ == HeadsPerTurn || cost >= left)
                        return true;
                    cost += file.Map[0].Length;
                    await ProveAsync(release, proof, volume, cancellationToken);
                }
            }
        }
        finally
        {
            if (cost > 0)
                await queue.AddCostAsync(DateOnly.FromDateTime(now), cost, CancellationToken.None);
        }

        return false;
    }

    private async Task ProveAsync(Release release, BackgroundProof proof, PredictedVolume volume, CancellationToken cancellationToken)
    {
        try
        {
            await proof.LookAsync(volume, cancellationToken);
        }
        catch (ArticleGoneException)
        {
            // A backup provider may have the head, but only readers may ask one. The other volumes can still be verified from both sides.
            if (!_lost.TryGetValue(release.Id, out var lost))
                _lost.Add(release.Id, lost = []);
            lost.Add(volume.Posted);
        }
    }
}
