using Sluice.Usenet.Media;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A stretch of one posted file of a release.</summary>
/// <param name="Posted">Index of the posted file among the heads that were mapped.</param>
/// <param name="Offset">Its first byte in the posted file, 0-based.</param>
/// <param name="Length">Its bytes.</param>
public readonly record struct PostedExtent(int Posted, long Offset, long Length);

/// <summary>A file that a release brings: a posted file itself, or an entry of an archive, whatever lies around it.</summary>
public sealed record MappedFile
{
    /// <summary>Its path inside the innermost archive, as written there; null where it is a posted file or a joined one.</summary>
    public string? InnerPath { get; init; }

    /// <summary>Index of the posted file whose subject, yEnc name and PAR2 name may name it: itself, or the first volume of its set.</summary>
    public required int NamedBy { get; init; }

    /// <summary>Whether it was joined from posted pieces, so that a number at the end of a posted name is that of the first one.</summary>
    public bool IsJoined { get; init; }

    /// <summary>Its length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>Where its bytes lie, in order.</summary>
    public required IReadOnlyList<PostedExtent> Extents { get; init; }

    /// <summary>What decrypts the bytes of all extents as one text; null where nothing does.</summary>
    public StreamCipher? Cipher { get; init; }

    /// <summary>What it is by its first bytes.</summary>
    public MediaKind Kind { get; init; }

    /// <summary>How it is compressed; null where it is stored. A compressed one has no use but to be named in a refusal.</summary>
    public string? Method { get; init; }

    /// <summary>CRC-32 of its bytes; null where nothing has told it.</summary>
    public uint? Crc32 { get; init; }
}

/// <summary>Why a set of volumes cannot be streamed.</summary>
/// <param name="Fault">Why.</param>
/// <param name="Format">Its format.</param>
/// <param name="Name">The name of its first volume.</param>
/// <param name="Detail">The cause in words.</param>
/// <param name="Have">Volumes that were posted.</param>
/// <param name="Need">Volumes that it has, as far as known; else one more than <paramref name="Have"/>.</param>
/// <param name="Bytes">Posted bytes of the set, which say whether it is the payload.</param>
public sealed record RefusedSet(ArchiveFault Fault, ArchiveFormat Format, string Name, string Detail, int Have, int Need, long Bytes);

/// <summary>A volume whose place in the data of its set was predicted and not read (IMP-52).</summary>
/// <remarks>Kept with the posted file as long as it is not proved: all volumes of one set are needed to prove one of them.</remarks>
/// <param name="Posted">Index of the posted file.</param>
/// <param name="DataOffset">Where the data of the entry has to begin in it.</param>
/// <param name="DataLength">How long the data has to be.</param>
/// <param name="Set">Number of its set among the predicted ones of the release.</param>
/// <param name="Place">Its place in the order of its set, as a 0-based volume.</param>
/// <param name="Expected">What its header has to say besides, as one short text that only <see cref="PredictedVolumes"/> reads; ASCII, no secret.</param>
public readonly record struct PredictedVolume(int Posted, long DataOffset, long DataLength, int Set, int Place, string Expected)
{
    /// <summary>Whether PAR2 told the length of its posted file, so that the place of no other volume depends on its head.</summary>
    public bool HasKnownLength => Expected.EndsWith(RarExpectation.KnownLength, StringComparison.Ordinal);
}

/// <summary>The outcome of mapping a release.</summary>
/// <param name="Files">Everything that it brings, compressed entries included.</param>
/// <param name="Maps">For each head the segment map that its extents refer to; null for posted files that no file lies in.</param>
/// <param name="Refused">Sets of which nothing can be streamed.</param>
/// <param name="Predicted">Volumes that have to be looked into before any of their bytes leave.</param>
/// <param name="Notes">What was skipped and why.</param>
public sealed record ReleaseMap(
    IReadOnlyList<MappedFile> Files,
    IReadOnlyList<SegmentMap?> Maps,
    IReadOnlyList<RefusedSet> Refused,
    IReadOnlyList<PredictedVolume> Predicted,
    IReadOnlyList<string> Notes);
