using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Primitives;
using Sluice.Usenet.Streams;

namespace Sluice.Server.Library;

/// <summary>
/// Looks into the predicted volumes of releases before a viewer has to wait for that (IMP-52): one head for each volume whose length PAR2 does not
/// tell. Releases come here when they are published, and when a reader first seeks in one that is not proved.
/// </summary>
/// <remarks>
/// One head at a time, in lane HealthCheck: playback takes its connections back, but always leaves one turn, and a reader that waits for heads goes
/// first. Backup providers are never asked. The rows that still have a prediction are all there is to do, so a restart goes on where the last run was.
/// </remarks>
internal sealed class ProvingWorker(
    ProofQueue queue,
    Predictions predictions,
    LibraryStore library,
    OpenReleases releases,
    SluiceDatabase database,
    TimeProvider time,
    ILogger<ProvingWorker> logger) : IWorker
{
    /// <summary>Most bytes of one day (UTC): about 28,000 heads.</summary>
    public const long BytesPerDay = 20_000_000_000;

    // Then a release that was added meanwhile may go first, and the cost is stored.
    private const int HeadsPerTurn = 128;

    // A provider is away, or an article breaks its connection: other releases go first meanwhile.
    private static readonly TimeSpan RetryAfter = TimeSpan.FromMinutes(10);

    // Releases that could not be read, with the timestamp of the try; heads that no provider has, of releases that are not done yet.
    private readonly Dictionary<long, long> _postponed = [];
    private readonly Dictionary<long, HashSet<int>> _lost = [];

    /// <inheritdoc/>
    public string Name => "the proof of predicted volumes";

    /// <inheritdoc/>
    public async Task RunAsync(CancellationToken stopping)
    {
        // Safe mode lasts until the next start.
        while (database.IsOpen)
        {
            foreach (var due in _postponed.Where(release => time.GetElapsedTime(release.Value) >= RetryAfter).Select(release => release.Key).ToList())
                _postponed.Remove(due);
            var now = time.WallTime().UtcDateTime;
            if (await LeftOfAsync(now, stopping) <= 0)
                await Task.Delay(now.Date.AddDays(1) - now, time, stopping);
            else if (await queue.FindNextAsync(_postponed.Keys, stopping) is { } release)
                await TurnAsync(release, now, stopping);
            else
                await queue.Added.WaitAsync(_postponed.Count > 0 ? RetryAfter : null, stopping);
        }
    }

    /// <summary>Bytes that the day of a time has left.</summary>
    private async Task<long> LeftOfAsync(DateTime now, CancellationToken cancellationToken) =>
        BytesPerDay - await queue.GetCostAsync(DateOnly.FromDateTime(now), cancellationToken);

    private async Task TurnAsync(Release release, DateTime now, CancellationToken cancellationToken)
    {
        try
        {
            if (await ProveSomeAsync(release, now, cancellationToken))
                return;
        }
        catch (RefutedExtentException)
        {
            // The release is being mapped again, with every head.
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

    /// <summary>Looks into the next volumes of a release.</summary>
    /// <returns>Whether there may be more.</returns>
    private async Task<bool> ProveSomeAsync(Release release, DateTime now, CancellationToken cancellationToken)
    {
        var stored = await library.GetPredictedFilesAsync(release, cancellationToken);
        if (stored.Count == 0)
            return false;
        using var ids = await releases.OpenAsync(release.NzbHash, cancellationToken);
        var (left, heads, cost) = (await LeftOfAsync(now, cancellationToken), 0, 0L);
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
                    await LookAsync(release, proof, volume, cancellationToken);
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

    private async Task LookAsync(Release release, BackgroundProof proof, PredictedVolume volume, CancellationToken cancellationToken)
    {
        try
        {
            await proof.LookAsync(volume, cancellationToken);
        }
        catch (ArticleGoneException)
        {
            // A backup may have it; that is for the reader who comes to it. All other volumes are proved from both edges.
            if (!_lost.TryGetValue(release.Id, out var lost))
                _lost.Add(release.Id, lost = []);
            lost.Add(volume.Posted);
        }
    }
}
