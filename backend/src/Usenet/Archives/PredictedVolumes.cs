using Sluice.Usenet.Nntp;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A predicted volume with its posted file, whose map is predicted too.</summary>
/// <param name="Volume">What was predicted.</param>
/// <param name="File">The posted file; its ids have to stay readable as long as a proof of it is asked for.</param>
public readonly record struct PredictedFile(PredictedVolume Volume, PostedFile File);

/// <summary>Looks into predicted volumes before any of their bytes leave, and remembers what it has found (IMP-52).</summary>
/// <remarks>Thread-safe; one per process. Fetches in lane Playback, because a viewer waits.</remarks>
/// <param name="source">Where heads come from; not owned.</param>
/// <param name="refuted">Told the key of a set once one of its volumes is not as predicted: its release has to be mapped anew, without predictions.</param>
public sealed class PredictedVolumes(IArticleSource source, Action<object> refuted)
{
    /// <summary>The proofs of a set, one for each of its predicted volumes.</summary>
    /// <param name="key">Equal for the same set of the same map as long as the process runs.</param>
    /// <param name="files">All predicted volumes of the set in their order, those included that no byte is read of.</param>
    public IReadOnlyList<IExtentProof> For(object key, IReadOnlyList<PredictedFile> files) => throw new NotImplementedException();
}
