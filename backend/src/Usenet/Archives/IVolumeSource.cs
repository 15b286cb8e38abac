using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Usenet.Archives;

/// <summary>What may be a volume of an archive, or a file of its own: a posted file, or an entry of an archive around it.</summary>
/// <param name="Index">Its index in its source.</param>
/// <param name="Name">The best name that it has, which may be a path; null where it has none.</param>
/// <param name="Volume">What the first of its names that is one of a volume says; null where none is.</param>
/// <param name="Kind">What it is by its first bytes; of one that was not looked into that of the first volume of its set.</param>
internal sealed record VolumeCandidate(int Index, string? Name, VolumeName? Volume, MediaKind Kind)
{
    /// <summary>Length in bytes; null where it was not looked into.</summary>
    public long? Length { get; init; }

    /// <summary>The n of <c>[n/m]</c> in its subject, or 0.</summary>
    public int Counter { get; init; }

    /// <summary>Bytes that it takes, as far as they are known or claimed.</summary>
    public long Bytes { get; init; }

    /// <summary>Whether there is anything to be read of it. One whose head is gone may be a volume still, by its name.</summary>
    public bool IsReadable { get; init; } = true;
}

/// <summary>Where volumes are read: the posted files of a release, or the entries of an archive.</summary>
/// <remarks>Thread-safe: sets are read in parallel, and no candidate belongs to two sets.</remarks>
internal interface IVolumeSource
{
    /// <summary>All candidates, as they were when the source was made.</summary>
    IReadOnlyList<VolumeCandidate> Candidates { get; }

    /// <summary>Asks for the heads of candidates that were not looked into. Those that cannot be had are told when they are opened.</summary>
    Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken);

    /// <summary>Measures candidates anew by first and last articles; what only one article has claimed is not taken for true any more.</summary>
    Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken);

    /// <summary>Gives a candidate that was not looked into a length, without asking for it.</summary>
    /// <param name="index">The candidate.</param>
    /// <param name="like">Another one that it is cut into articles like.</param>
    /// <param name="length">Its length; null for what PAR2 says, or else that of the other one.</param>
    /// <returns>The length; null where that cannot be.</returns>
    long? Predict(int index, int like, long? length);

    /// <summary>Whether PAR2 tells the length of a candidate.</summary>
    bool HasKnownLength(int index);

    /// <summary>Opens a candidate.</summary>
    /// <exception cref="ArchiveException">Its head is gone or damaged at every provider, or says too little.</exception>
    IArchiveInput Open(int index);
}
