using System.Data.Common;
using Microsoft.Extensions.Options;
using Sluice.Server.Database;
using Sluice.Server.Providers;
using Sluice.Server.Settings;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.Library;

/// <summary>
/// Corrects and stores the maps of posted files that an article has refuted (IMP-32). A stream opened later has the corrected map;
/// a stream opened before gets it as soon as it meets the contradiction. Length and ETag stay.
/// </summary>
/// <remarks>Thread-safe. Bounded: beyond <see cref="MostFiles"/> files the claims of the oldest are forgotten.</remarks>
internal sealed class MapCorrections(
    LibraryStore store,
    ProviderHost providers,
    SincePaced sincePaced,
    IOptionsMonitor<UsenetOptions> options,
    TimeProvider time,
    ILogger<MapCorrections> logger) : IDisposable
{
    private const int MostFiles = 10_000;

    private readonly MapCorrector _corrector = new(providers);
    private readonly Lock _gate = new();
    private readonly Dictionary<(string NzbHash, int Ordinal), MapClaims> _files = [];
    private readonly Queue<(string NzbHash, int Ordinal)> _byAge = new();

    /// <summary>The correction of a posted file's map for one stream.</summary>
    /// <param name="release">Its release.</param>
    /// <param name="ordinal">Its number in the release.</param>
    /// <param name="ids">Its message-ids; valid while the stream is open.</param>
    public IMapCorrection For(Release release, int ordinal, ISegmentIds ids) => new Correction(this, release, ordinal, ids);

    /// <inheritdoc/>
    public void Dispose()
    {
        lock (_gate)
        {
            foreach (var claims in _files.Values)
                claims.Dispose();
            _files.Clear();
        }
    }

    private ILogger Logger => logger;

    /// <summary>Ends after the time that a client waits for a later byte of a body, which is longer than for its first.</summary>
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

    private async Task<SegmentMap> ReadAsync(Release release, int ordinal, SegmentMap otherwise, CancellationToken cancellationToken)
    {
        try
        {
            return await store.FindMapAsync(release, ordinal, cancellationToken) is { } stored
                && stored.Count == otherwise.Count && stored.Length == otherwise.Length
                ? stored
                : otherwise;
        }
        catch (Exception failure) when (failure is DbException or StorageException)
        {
            LibraryLog.MapNotStored(Logger, failure.Message);
            return otherwise;
        }
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

    private sealed class Correction(MapCorrections owner, Release release, int ordinal, ISegmentIds ids) : IMapCorrection
    {
        private readonly (string, int) _file = (release.NzbHash, ordinal);

        public bool MayBelieve(Segment claim) => owner.Find(_file)?.MayBelieve(claim) ?? true;

        public async Task<SegmentMap> CorrectAsync(SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
        {
            // One deadline for the turn and for the look: a look that hangs ends with its own, and so does the wait of each reader behind it.
            await using var deadline = owner.Deadline();
            using var either = CancellationTokenSource.CreateLinkedTokenSource(deadline.Token, cancellationToken);
            try
            {
                return await CorrectInTurnAsync(owner.Open(_file), refuted, claim, either.Token);
            }
            catch (OperationCanceledException late) when (!cancellationToken.IsCancellationRequested)
            {
                throw new NntpException(NntpFault.Stalled, "Where an article lies in its file was not found out in time.", late);
            }
        }

        private async Task<SegmentMap> CorrectInTurnAsync(MapClaims claims, SegmentMap refuted, Segment claim, CancellationToken cancellationToken)
        {
            await claims.Turn.WaitAsync(cancellationToken);
            try
            {
                // Another reader may have been here before.
                var known = await owner.ReadAsync(release, ordinal, refuted, cancellationToken);
                if (known[claim.Index] == claim || !claims.MayBelieve(claim))
                    return known;

                if (await owner._corrector.CorrectAsync(ids, known, claim, cancellationToken) is not { } corrected)
                {
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

/// <summary>Claims of the articles of one posted file against its map since the start.</summary>
/// <remarks>Thread-safe. Bounded: claims beyond <see cref="MostClaims"/> of one file, whose articles contradict each other, are ignored.</remarks>
internal sealed class MapClaims : IDisposable
{
    private const int MostClaims = 64;

    private readonly Lock _gate = new();
    private readonly HashSet<Segment> _refused = [];
    private int _corrections;

    /// <summary>Held while a claim is verified, so that each is verified once.</summary>
    public SemaphoreSlim Turn { get; } = new(1, 1);

    /// <summary>Whether a claim is worth verifying.</summary>
    public bool MayBelieve(Segment claim)
    {
        lock (_gate)
            return _refused.Count + _corrections < MostClaims && !_refused.Contains(claim);
    }

    /// <summary>A claim was found to be untrue.</summary>
    public void Refuse(Segment claim)
    {
        lock (_gate)
            _refused.Add(claim);
    }

    /// <summary>A claim was found to be true.</summary>
    public void Corrected()
    {
        lock (_gate)
            _corrections++;
    }

    /// <inheritdoc/>
    public void Dispose() => Turn.Dispose();
}
