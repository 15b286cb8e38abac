using Sluice.Usenet.Media;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Usenet.Archives;

/// <summary>A byte range of one posted file.</summary>
/// <param name="Posted">Index of the posted file among the mapped heads.</param>
/// <param name="Offset">0-based offset of the first byte in the posted file.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct PostedExtent(int Posted, long Offset, long Length);

/// <summary>A file of a release: a posted file itself, or an archive entry at any nesting depth.</summary>
public sealed record MappedFile
{
    /// <summary>Path inside the innermost archive, as stored there; null for a posted or joined file.</summary>
    public string? InnerPath { get; init; }

    /// <summary>Index of the posted file whose names (subject, yEnc, PAR2) may name this file: the file itself, or its set's first volume.</summary>
    public required int NamedBy { get; init; }

    /// <summary>Whether the file was joined from pieces. A number at the end of the posted name then belongs to the first piece.</summary>
    public bool IsJoined { get; init; }

    /// <summary>Length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>Locations of the file's bytes, in order.</summary>
    public required IReadOnlyList<PostedExtent> Extents { get; init; }

    /// <summary>Decrypts the concatenated bytes of all extents; null if not encrypted.</summary>
    public StreamCipher? Cipher { get; init; }

    public MediaKind Kind { get; init; }

    /// <summary>Compression method; null if stored. A compressed file is listed only so that a refusal can name it.</summary>
    public string? Method { get; init; }

    /// <summary>CRC-32 of the file; null if unknown.</summary>
    public uint? Crc32 { get; init; }
}

/// <summary>A set of volumes that cannot be streamed.</summary>
/// <param name="Name">The name of the set's first volume.</param>
/// <param name="Detail">The cause, as a phrase.</param>
/// <param name="Have">Number of posted volumes.</param>
/// <param name="Need">Number of volumes, if known, otherwise one more than <paramref name="Have"/>.</param>
/// <param name="Bytes">Posted bytes of the set, to decide whether it is the payload.</param>
public sealed record RefusedSet(ArchiveFault Fault, ArchiveFormat Format, string Name, string Detail, int Have, int Need, long Bytes);

/// <summary>A volume whose data location was predicted instead of read (IMP-52).</summary>
/// <remarks>Stored with the posted file until verified, because verifying one volume requires all volumes of its set.</remarks>
/// <param name="Posted">Index of the posted file.</param>
/// <param name="DataOffset">Predicted offset of the entry's data in the posted file.</param>
/// <param name="DataLength">Predicted length of this data.</param>
/// <param name="Set">Number of the volume's set among the predicted sets of the release.</param>
/// <param name="Place">0-based position in the set.</param>
/// <param name="Expected">Expected header content as short ASCII text, read only by <see cref="PredictedVolumes"/>; not secret.</param>
public readonly record struct PredictedVolume(int Posted, long DataOffset, long DataLength, int Set, int Place, string Expected)
{
    /// <summary>Whether PAR2 gives the posted file's length, so other volumes can be located without this file's head.</summary>
    public bool HasKnownLength => Expected.EndsWith(RarExpectation.KnownLength, StringComparison.Ordinal);
}

/// <summary>The result of mapping a release.</summary>
/// <param name="Files">All files, including compressed entries.</param>
/// <param name="Maps">The segment map of each head; null for a posted file that no mapped file uses.</param>
/// <param name="Refused">Sets that cannot be streamed.</param>
/// <param name="Predicted">Volumes to verify before any of their bytes are served.</param>
/// <param name="Notes">Skipped items with the reason.</param>
public sealed record ReleaseMap(
    IReadOnlyList<MappedFile> Files,
    IReadOnlyList<SegmentMap?> Maps,
    IReadOnlyList<RefusedSet> Refused,
    IReadOnlyList<PredictedVolume> Predicted,
    IReadOnlyList<string> Notes);
