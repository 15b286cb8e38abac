namespace Sluice.Usenet.Archives;

/// <summary>The reason an archive cannot be streamed, as in docs/contracts/import.md, section 9. The last two concern articles.</summary>
public enum ArchiveFault
{
    /// <summary>The archive is damaged or contradicts itself.</summary>
    Broken,

    /// <summary>The archive uses a feature that cannot be streamed.</summary>
    Unsupported,

    /// <summary>The archive continues in a volume that was never posted.</summary>
    Incomplete,

    NoPassword,

    WrongPassword,

    /// <summary>An article with headers is missing at every provider.</summary>
    Gone,

    /// <summary>An article with headers is damaged at every provider.</summary>
    Damaged,
}

/// <summary>An archive cannot be read. The detail completes "The archive is damaged or inconsistent (…)", without passwords or host paths.</summary>
public sealed class ArchiveException(ArchiveFault fault, string detail) : Exception(detail)
{
    public ArchiveFault Fault => fault;

    public string Detail => Message;

    /// <summary>Number of volumes according to the archive; null if unknown.</summary>
    public int? Volumes { get; init; }
}
