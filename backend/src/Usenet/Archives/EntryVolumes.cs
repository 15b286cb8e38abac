using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Usenet.Archives;

/// <summary>The stored entries of an archive as what may be volumes of archives in it (IMP-55).</summary>
/// <param name="entries">They; each stored, and encrypted only where its cipher is decided.</param>
/// <param name="kinds">What each is by its first bytes.</param>
/// <param name="around">Where the volumes of the archive are.</param>
internal sealed class EntryVolumes(IReadOnlyList<ArchiveEntry> entries, IReadOnlyList<MediaKind> kinds, IVolumeSource around) : IVolumeSource
{
    /// <inheritdoc/>
    public IReadOnlyList<VolumeCandidate> Candidates { get; } =
    [
        .. entries.Select((entry, index) => new VolumeCandidate(index, entry.Path, VolumeName.Parse(entry.Path), kinds[index]) { Length = entry.Length, Bytes = entry.Length }),
    ];

    /// <summary>Whether any of them may be a volume.</summary>
    public bool HoldArchives => Candidates.Any(candidate => !NameJudge.IsPlain(candidate.Name)
        && (candidate.Volume is not null || MediaSignature.CategoryOf(candidate.Kind) == MediaCategory.Archive));

    /// <inheritdoc/>
    public Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc/>
    public long? Predict(int index, int like, long? length) => null;

    /// <inheritdoc/>
    public bool HasKnownLength(int index) => false;

    /// <inheritdoc/>
    public IArchiveInput Open(int index) => Open(entries[index], around);

    /// <summary>Opens an entry of an archive.</summary>
    public static IArchiveInput Open(ArchiveEntry entry, IVolumeSource around) =>
        new EntryInput(entry, new SourceInputs(around), static (text, cipher, length) => new CipherInput(text, cipher, length));
}
