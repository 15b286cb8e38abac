using System.Collections.Concurrent;
using System.Threading.Channels;
using Sluice.Server.Providers;
using Sluice.Usenet.Archives;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>
/// The predicted volumes of releases, for streams (IMP-52). A volume's bytes are served only after its head has confirmed the prediction. A release with a
/// refuted volume waits here until it is mapped again. Thread-safe.
/// </summary>
internal sealed class Predictions : IPredictionOwner
{
    private static readonly Dictionary<int, IExtentProof> None = [];

    private readonly PredictedVolumes _volumes;
    private readonly PredictionWriteWorker _writer;
    private readonly Channel<Release> _refuted = Channel.CreateUnbounded<Release>(new UnboundedChannelOptions { SingleReader = true });

    // Releases that are waiting or being mapped. Each is queued once, no matter how many readers refute it.
    private readonly ConcurrentDictionary<long, Release> _waiting = new();

    public Predictions(ProviderHost providers, PredictionWriteWorker writer, TimeProvider time)
    {
        _writer = writer;
        _volumes = new PredictedVolumes(providers, this, time);
    }

    /// <summary>Returns the verifications of a release by posted file number. Omits posted files without a prediction.</summary>
    /// <param name="stored">The release's posted files. If any is predicted, includes all predicted ones.</param>
    /// <param name="files">The same posted files as the stream reads them, by number.</param>
    /// <param name="account">Pays for the heads that the reader needs.</param>
    public IReadOnlyDictionary<int, IExtentProof> For(
        Release release, IReadOnlyList<StoredPostedFile> stored, IReadOnlyDictionary<int, PostedFile> files, ReaderAccount account)
    {
        if (stored.All(file => file.Predicted is null))
            return None;

        var proofs = new Dictionary<int, IExtentProof>();
        foreach (var (key, volumes) in SetsOf(release, stored, file => files[file.Ordinal]))
        {
            var found = _volumes.For(key, volumes, account);
            for (var i = 0; i < volumes.Count; i++)
                proofs.Add(volumes[i].Volume.Posted, found[i]);
        }

        return proofs;
    }

    /// <summary>Returns the background verifications of a release, one per set.</summary>
    /// <param name="stored">All predicted posted files of the release.</param>
    /// <param name="ids">The message-ids, which must stay open while the verifications are used.</param>
    public IEnumerable<BackgroundProof> InBackground(Release release, IReadOnlyList<StoredPostedFile> stored, ReleaseUse ids) =>
        SetsOf(release, stored, file => new PostedFile(file.Map, ids.Take(file.Places))).Select(set => _volumes.InBackground(set.Key, set.Volumes));

    /// <summary>Streams the releases that must be mapped again.</summary>
    public IAsyncEnumerable<Release> ReadRefutedAsync(CancellationToken cancellationToken) => _refuted.Reader.ReadAllAsync(cancellationToken);

    /// <summary>Removes a release after it was mapped again, or because it cannot be mapped.</summary>
    public void Settle(Release release) => _waiting.TryRemove(release.Id, out _);

    /// <summary>Queues a release to be mapped again, or once more if it was unreadable last time.</summary>
    public void Refute(Release release) => _refuted.Writer.TryWrite(release);

    void IPredictionOwner.OnProved(object key, IReadOnlyList<PredictedVolume> volumes) => _writer.ReportProved(((SetKey)key).Release, volumes);

    void IPredictionOwner.OnRefuted(object key)
    {
        var release = ((SetKey)key).Release;
        if (_waiting.TryAdd(release.Id, release))
            Refute(release);
    }

    void IPredictionOwner.OnSought(object key) => _writer.ReportSought(((SetKey)key).Release);

    private static IEnumerable<(SetKey Key, IReadOnlyList<PredictedFile> Volumes)> SetsOf(
        Release release, IReadOnlyList<StoredPostedFile> stored, Func<StoredPostedFile, PostedFile> open) =>
        stored
            .Where(file => file.Predicted is not null)
            .GroupBy(file => file.Predicted!.Value.Set)
            .Select(set => (
                new SetKey(release, set.Key),
                (IReadOnlyList<PredictedFile>)[.. set.OrderBy(file => file.Predicted!.Value.Place).Select(file => new PredictedFile(file.Predicted!.Value, open(file)))]));

    // Identifies a set by release row and NZB, because row numbers may be reused.
    private sealed class SetKey(Release release, int set) : IEquatable<SetKey>
    {
        public Release Release => release;

        private int Set => set;

        public bool Equals(SetKey? other) =>
            other is not null && other.Release.Id == Release.Id && other.Release.NzbHash == Release.NzbHash && other.Set == Set;

        public override bool Equals(object? obj) => Equals(obj as SetKey);

        public override int GetHashCode() => HashCode.Combine(Release.Id, Set);
    }
}
