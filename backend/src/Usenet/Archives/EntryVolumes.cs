using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Usenet.Archives;

/// <summary>Offers the stored entries of an archive as candidates for nested archives (IMP-55); ciphers must be decided.</summary>
internal sealed class EntryVolumes(IReadOnlyList<ArchiveEntry> entries, IReadOnlyList<MediaKind> kinds, IVolumeSource around) : IVolumeSource
{
    public IReadOnlyList<VolumeCandidate> Candidates { get; } =
    [
        .. entries.Select((entry, index) => new VolumeCandidate(index, entry.Path, VolumeName.Parse(entry.Path), kinds[index]) { Length = entry.Length, Bytes = entry.Length }),
    ];

    /// <summary>Whether any entry may be a volume.</summary>
    public bool HoldArchives => Candidates.Any(candidate => !NameJudge.IsPlain(candidate.Name)
        && (candidate.Volume is not null || MediaSignature.CategoryOf(candidate.Kind) == MediaCategory.Archive));

    public Task ContinueAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    public Task MeasureAsync(IReadOnlyList<int> indexes, CancellationToken cancellationToken) => Task.CompletedTask;

    public long? Predict(int index, int like, long? length) => null;

    public bool HasKnownLength(int index) => false;

    public IArchiveInput Open(int index) => Open(entries[index], around);

    public static IArchiveInput Open(ArchiveEntry entry, IVolumeSource around) =>
        new EntryInput(entry, new SourceInputs(around), static (text, cipher, length) => new CipherInput(text, cipher, length));
}
