using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Usenet.Archives;

/// <summary>A posted file or an archive entry that may be a volume of an archive or a file of its own.</summary>
/// <param name="Index">Index in the source.</param>
/// <param name="Name">The best known name, possibly a path; null if none is known.</param>
/// <param name="Volume">The parsed volume name: the first known name that parses; null if none does.</param>
/// <param name="Kind">Media kind, detected from the first bytes. A skipped candidate has the kind of its set's first volume.</param>
internal sealed record VolumeCandidate(int Index, string? Name, VolumeName? Volume, MediaKind Kind)
{
    /// <summary>Length in bytes; null if the candidate was skipped.</summary>
    public long? Length { get; init; }

    /// <summary>The n of <c>[n/m]</c> in the subject, or 0.</summary>
    public int Counter { get; init; }

    /// <summary>Known or claimed size in bytes.</summary>
    public long Bytes { get; init; }

    /// <summary>Whether the candidate has readable bytes. A candidate with a lost head may still have the name of a volume.</summary>
    public bool IsReadable { get; init; } = true;
}

/// <summary>Provides volumes: the posted files of a release, or the entries of an archive.</summary>
/// <remarks>Thread-safe, because sets are read in parallel. No candidate belongs to two sets.</remarks>
internal interface IVolumeSource
{
    /// <summary>All candidates known when the source was created.</summary>
    IReadOnlyList<VolumeCandidate> Candidates { get; }

    /// <summary>Fetches the heads of skipped candidates. A head that cannot be fetched is reported by <see cref="Open"/>.</summary>
    Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken);

    /// <summary>Measures candidates again from their first and last articles, because the claim of a single article may be wrong.</summary>
    Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken);

    /// <summary>Predicts a skipped candidate's length: as given, from PAR2, or as long as <paramref name="like"/>, whose article size it shares.</summary>
    /// <returns>The length; null if no prediction is possible.</returns>
    long? Predict(int index, int like, long? length);

    /// <summary>Whether PAR2 gives the length of a candidate.</summary>
    bool HasKnownLength(int index);

    /// <summary>Opens a candidate.</summary>
    /// <exception cref="ArchiveException">The head is missing or damaged at every provider, or the length is unknown.</exception>
    IArchiveInput Open(int index);
}
