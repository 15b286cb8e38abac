using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Streams.Proof;

namespace Sluice.Server.Library;

/// <summary>
/// The only access to stored evidence about content: corrected maps, article habits and predicted volumes. The evidence outlives the stream, the engine and the
/// process. Thread-safe.
/// </summary>
internal sealed class ProofStores(MapCorrections corrections, PostedHabits habits, Predictions predictions)
{
    /// <summary>Opens the posted files of a library file, each with its correction and habit, and with its verification if it was predicted.</summary>
    /// <param name="posted">The file's posted files. If any is predicted, includes all predicted ones of the release.</param>
    /// <param name="ids">The message-ids of the release, which must stay open while the slices are read.</param>
    /// <param name="account">Pays for the articles that correct a map or prove a volume.</param>
    /// <returns>Each posted file as one slice, by number.</returns>
    public IReadOnlyDictionary<int, FileExtent> Open(LibraryFile file, IReadOnlyList<StoredPostedFile> posted, ReleaseUse ids, ReaderAccount account)
    {
        var origin = new FileOrigin(file.ETag, file.Length);
        var files = posted.ToDictionary(stored => stored.Ordinal, Open);
        var proofs = predictions.For(file.Release, posted, files, account);
        return files.ToDictionary(each => each.Key, each => FileExtent.Whole(each.Value) with { Proof = proofs.GetValueOrDefault(each.Key) });

        PostedFile Open(StoredPostedFile stored)
        {
            var segments = ids.Take(stored.Places);
            return new PostedFile(stored.Map, segments)
            {
                Origin = origin,
                Correction = corrections.For(file.Release, stored.Ordinal, segments, account, stored.IsEstimate),
                Habit = habits.For(file.Release.NzbHash, stored),
            };
        }
    }
}
