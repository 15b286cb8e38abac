namespace Sluice.Usenet.Archives;

/// <summary>One RAR volume as its headers describe it. Immutable.</summary>
public sealed record RarVolume
{
    /// <summary>RAR 4 (2.9 and later) or RAR 5 (and 7).</summary>
    public required ArchiveFormat Format { get; init; }

    public required long Length { get; init; }

    /// <summary>The 0-based volume number. Null for a single volume, and for a RAR 4 volume if predicted, not read to its end, or not numbered.</summary>
    public int? Number { get; init; }

    /// <summary>Whether the archive is split into volumes.</summary>
    public bool IsVolume { get; init; }

    /// <summary>Whether the headers mark this volume as the first. RAR before 3.0 never sets the mark.</summary>
    public bool IsFirst { get; init; }

    /// <summary>Whether volumes are named <c>.part01.rar</c> and so on, instead of <c>.rar</c>, <c>.r00</c>.</summary>
    public bool HasNewNames { get; init; }

    /// <summary>Whether compressed files depend on earlier files; irrelevant for stored files.</summary>
    public bool IsSolid { get; init; }

    public bool IsLocked { get; init; }

    public bool HasRecovery { get; init; }

    public bool HasEncryptedHeaders { get; init; }

    /// <summary>Files, folders and links in order; with <see cref="RarDepth.FirstFile"/> nothing after the first part with data.</summary>
    public required IReadOnlyList<RarPart> Parts { get; init; }

    /// <summary>Whether the volume was read to its end.</summary>
    public bool IsWhole { get; init; }

    /// <summary>Whether the end header announces another volume; null if absent or not read.</summary>
    public bool? Continues { get; init; }

    /// <summary>Whether this volume was predicted (<see cref="RarPrediction"/>), so that it must be verified before any of its bytes are served.</summary>
    public bool IsPredicted { get; init; }

    /// <summary>The first part with data; null if there is none.</summary>
    public RarPart? Head => Parts.FirstOrDefault(part => part.DataLength > 0);

    /// <summary>The part that continues in the next volume; null if none does or the volume was not read that far.</summary>
    public RarPart? Tail => Parts.LastOrDefault(part => part.DataLength > 0) is { IsSplitAfter: true } last ? last : null;

    /// <summary>Whether all parts are known: the volume was read to its end, or up to a part that fills the rest.</summary>
    public bool HasAllParts => IsWhole || Tail is not null;

    /// <summary>Length of the main header in bytes, without encryption overhead.</summary>
    internal int MainHeaderLength { get; init; }

    /// <summary>Whether this is a copy of the other volume: same length and headers, which include a volume number or a checksum.</summary>
    internal bool IsCopyOf(RarVolume other) =>
        Number == other.Number && (Number is not null || Parts.Any(part => part is { DataLength: > 0, Crc32: not null }))
        && Length == other.Length && IsPredicted == other.IsPredicted && Parts.Select(Content).SequenceEqual(other.Parts.Select(Content));

    private static (RarIdentity, long, long, uint?) Content(RarPart part) => (part.Identity, part.DataOffset, part.DataLength, part.Crc32);
}
