using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>
/// Corrects maps that an article has refuted, and stores the corrections (IMP-32). Open streams get the corrected map when they encounter the contradiction.
/// The library file keeps its length and ETag. The length of a posted file changes only if an old server stated it. If such a map cannot be corrected, the
/// release is opened again before the article counts as damaged.
/// </summary>
/// <remarks>Thread-safe. Beyond <see cref="MostFiles"/> files, the claims about the oldest file are dropped.</remarks>
internal sealed class MapCorrections(
    LibraryStore store,
    ReleaseOpenings openings,
    ProviderHost providers,
    SincePaced sincePaced,
    IOptionsMonitor<UsenetOptions> options,
    TimeProvider time,
    ILogger<MapCorrections> logger) : IDisposable
{
    private const int MostFiles = 10_000;

    private readonly Lock _gate = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), MapClaims> _files = [];
    private readonly Queue<(string NzbHash, int Ordinal)> _byAge = new();

    /// <summary>Returns the correction of a posted file's map for one stream.</summary>
    /// <param name="ids">Message-ids, valid while the stream is open.</param>
    /// <param name="account">Pays for the articles that verify a claim.</param>
    /// <param name="isEstimate">Whether the map comes from an old server.</param>
    public IMapCorrection For(Release release, int ordinal, ISegmentIds ids, ReaderAccount account, bool isEstimate = false) =>
        new Correction(this, release, ordinal, ids, account, isEstimate);

    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var claims in _files.Values)
                claims.Dispose();
            _files.Clear();
        }
    }

    private ProviderHost Providers => providers;

    private ILogger Logger => logger;

    /// <summary>Starts a deadline of twice the read timeout, because verifying a claim reads a whole body.</summary>
    private PacedDeadline Deadline() => new(2 * options.CurrentValue.StreamingReadTimeout, time, () => sincePaced(OperationLane.Playback));

    private MapClaims? Find((string NzbHash, int Ordinal) file)
    {
        lock (_gate)
            return _files.GetValueOrDefault(file);
    }

    private MapClaims Open((string NzbHash, int Ordinal) file)
    {
        lock (_gate)
        {
            if (_files.TryGetValue(file, out var known))
                return known;
            _byAge.Enqueue(file);
            while (_byAge.Count > MostFiles)
                _files.Remove(_byAge.Dequeue());
            return _files[file] = new MapClaims();
        }
    }

    private async Task<SegmentMap> ReadAsync(Release release, int ordinal, SegmentMap otherwise, bool isEstimate, CancellationToken cancellationToken)
    {
        try
        {
            return await store.FindMapAsync(release, ordinal, cancellationToken) is { } stored
                && stored.Count == otherwise.Count && (isEstimate || stored.Length == otherwise.Length)
                ? stored
                : otherwise;
        }
        catch (Exception failure) when (failure is DbException or StorageException)
        {
            LibraryLog.MapNotStored(Logger, failure.Message);
            return otherwise;
        }
    }

    /// <summary>Whether an import has replaced the estimated map since the stream was opened.</summary>
    private async Task<bool> IsOpenedAsync(Release release, int ordinal, CancellationToken cancellationToken)
    {
        try
        {
            return !await store.IsEstimatedAsync(release, ordinal, cancellationToken);
        }
        catch (Exception failure) when (failure is DbException or StorageException)
        {
            // Treat the map as still estimated, because the database is unavailable.
            LibraryLog.MapNotStored(logger, failure.Message);
            return false;
        }
    }

    /// <summary>Returns the highest end offset of a byte range in a posted file, over all files of the release.</summary>
    private async Task<long> FindExtentEndAsync(Release release, int ordinal, CancellationToken cancellationToken) =>
        (await store.GetFilesAsync(release, cancellationToken))
            .SelectMany(file => ContentMap.Unpack(file.Content).Extents)
            .Where(extent => extent.PostedFile == ordinal)
            .Select(extent => extent.Offset + extent.Length)
            .DefaultIfEmpty()
            .Max();

    private async Task<bool> AccuseAsync(Release release, int ordinal, Segment claim, CancellationToken cancellationToken)
    {
        if (!await openings.AccuseAsync(release, ordinal, cancellationToken))
            return false;
        LibraryLog.MapAccused(logger, release.Name, ordinal, claim.Index + 1);
        return true;
    }

    private async Task StoreAsync(Release release, int ordinal, SegmentMap refuted, SegmentMap corrected, CancellationToken cancellationToken)
    {
        try
        {
            await store.ReplaceMapAsync(release, ordinal, refuted, corrected, cancellationToken);
        }
        catch (Exception failure) when (failure is DbException or StorageException)
        {
            LibraryLog.MapNotStored(Logger, failure.Message);
        }
    }

    private sealed class Correction(MapCorrections owner, Release release, int ordinal, ISegmentIds ids, ReaderAccount account, bool isEstimate) : IMapCorrection
    {
        private readonly (string, int) _file = (release.NzbHash, ordinal);
        private readonly MapCorrector _corrector = new(owner.Providers, account: account);

        public bool MayBelieve(Segment claim) => owner.Find(_file)?.MayBelieve(claim) ?? true;

        public async Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
        {
            // A single deadline covers waiting and verifying, so that a hanging verification also releases the readers waiting for it.
            await using var deadline = owner.Deadline();
            using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
            try
            {
                return await CorrectInTurnAsync(owner.Open(_file), refuted, claim, either.Token);
            }
            catch (OperationCanceledException late) when (!cancellationToken.IsCancellationRequested)
            {
                throw new NntpException(NntpFault.Stalled, "Could not determine the offset of an article in time.", late);
            }
        }

        private async Task<SegmentMap> CorrectInTurnAsync(MapClaims claims, SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
        {
            await claims.Turn.WaitAsync(cancellationToken);
            try
            {
                // The extent is invalid, because the release was opened again and its new map has other extents.
                if (isEstimate && await owner.IsOpenedAsync(release, ordinal, cancellationToken))
                    throw new RefutedExtentException();
                // Another reader may have corrected the map in the meantime.
                var known = await owner.ReadAsync(release, ordinal, refuted, isEstimate, cancellationToken);
                if (known[claim.Index] == claim || !claims.MayBelieve(claim))
                    return known;

                long? least = isEstimate ? await owner.FindExtentEndAsync(release, ordinal, cancellationToken) : null;
                if (await _corrector.CorrectAsync(ids, known, claim, least, cancellationToken) is not { } corrected)
                {
                    if (isEstimate && await owner.AccuseAsync(release, ordinal, claim, cancellationToken))
                        throw new RefutedExtentException();
                    claims.Refuse(claim);
                    LibraryLog.ClaimRefused(owner.Logger, release.Name, ordinal, claim.Index + 1);
                    return known;
                }

                claims.Corrected();
                LibraryLog.MapCorrected(owner.Logger, release.Name, ordinal, claim.Index + 1);
                await owner.StoreAsync(release, ordinal, known, corrected, cancellationToken);
                return corrected;
            }
            finally
            {
                claims.Turn.Release();
            }
        }
    }
}

/// <summary>Contradictions between a posted file's articles and its map, found since startup.</summary>
/// <remarks>Thread-safe. At most <see cref="MostClaims"/> claims are verified, because the articles may contradict each other.</remarks>
internal sealed class MapClaims : IDisposable
{
    private const int MostClaims = 64;

    private readonly Lock _gate = new();
    private readonly HashSet<Segment> _refused = [];
    private int _corrections;

    /// <summary>Held during a verification, so that each claim is verified once.</summary>
    public SemaphoreSlim Turn { get; } = new(1, 1);

    public bool MayBelieve(Segment claim)
    {
        lock (_gate)
            return _refused.Count + _corrections < MostClaims && !_refused.Contains(claim);
    }

    public void Refuse(Segment claim)
    {
        lock (_gate)
            _refused.Add(claim);
    }

    public void Corrected()
    {
        lock (_gate)
            _corrections++;
    }

    public void Dispose() => Turn.Dispose();
}
