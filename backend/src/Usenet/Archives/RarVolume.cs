namespace Sluice.Usenet.Archives;

/// <summary>One volume of a RAR archive, or a whole one, as its headers describe it.</summary>
/// <remarks>Immutable.</remarks>
public sealed record RarVolume
{
    /// <summary>RAR 4 (2.9 and later) or RAR 5 (and 7).</summary>
    public required ArchiveFormat Format { get; init; }

    /// <summary>Its length in bytes.</summary>
    public required long Length { get; init; }

    /// <summary>
    /// Its number, the first volume being 0. Null where it has none: in an archive of one volume, in a RAR 4 volume that was not read to its end
    /// or whose end does not tell, and in a predicted one of RAR 4.
    /// </summary>
    public int? Number { get; init; }

    /// <summary>Whether the archive consists of volumes.</summary>
    public bool IsVolume { get; init; }

    /// <summary>Whether it says that it is the first one. RAR before 3.0 says it of none.</summary>
    public bool IsFirst { get; init; }

    /// <summary>Whether volumes are called <c>.part01.rar</c> and so on, and not <c>.rar</c>, <c>.r00</c>.</summary>
    public bool HasNewNames { get; init; }

    /// <summary>Whether compressed files depend on those before them. Says nothing about stored ones.</summary>
    public bool IsSolid { get; init; }

    /// <summary>Whether it is locked against changes.</summary>
    public bool IsLocked { get; init; }

    /// <summary>Whether it has a recovery record.</summary>
    public bool HasRecovery { get; init; }

    /// <summary>Whether its headers are encrypted.</summary>
    public bool HasEncryptedHeaders { get; init; }

    /// <summary>Files, folders and links in order; with <see cref="RarDepth.FirstFile"/> nothing behind the first one that has data.</summary>
    public required IReadOnlyList<RarPart> Parts { get; init; }

    /// <summary>Whether it was read to its end.</summary>
    public bool IsWhole { get; init; }

    /// <summary>Whether its end says that another volume follows; null where the end was not read, or is absent.</summary>
    public bool? Continues { get; init; }

    /// <summary>Whether it was never looked into: a <see cref="RarPrediction"/>, to be verified before any of its bytes leave.</summary>
    public bool IsPredicted { get; init; }

    /// <summary>The first part that has data: that of the file which the volume goes on with or begins with. Null where there is none.</summary>
    public RarPart? Head => Parts.FirstOrDefault(part => part.DataLength > 0);

    /// <summary>The part that goes on in the next volume; null where none does, or where the volume was not read that far.</summary>
    public RarPart? Tail => Parts.LastOrDefault(part => part.DataLength > 0) is { IsSplitAfter: true } last ? last : null;

    /// <summary>Whether all its parts are known: it was read to its end, or as far as to a part that fills the rest of it.</summary>
    public bool HasAllParts => IsWhole || Tail is not null;

    /// <summary>Length of the main header in bytes, without what encryption adds.</summary>
    internal int MainHeaderLength { get; init; }

    /// <summary>Whether another volume is the same one once more: its number and headers are the same, and some number or checksum stands in them.</summary>
    internal bool IsCopyOf(RarVolume other) =>
        Number == other.Number && (Number is not null || Parts.Any(part => part is { DataLength: > 0, Crc32: not null }))
        && Length == other.Length && IsPredicted == other.IsPredicted && Parts.Select(Content).SequenceEqual(other.Parts.Select(Content));

    private static (RarIdentity, long, long, uint?) Content(RarPart part) => (part.Identity, part.DataOffset, part.DataLength, part.Crc32);
}
