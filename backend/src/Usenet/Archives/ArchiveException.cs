namespace Sluice.Usenet.Archives;

/// <summary>
/// Why an archive cannot be streamed. Each value is a reason of docs/contracts/import.md, section 9; the last two concern articles.
/// </summary>
public enum ArchiveFault
{
    /// <summary>The archive is damaged or contradicts itself.</summary>
    Broken,

    /// <summary>The archive uses a feature that cannot be streamed.</summary>
    Unsupported,

    /// <summary>The archive continues in a volume never posted.</summary>
    Incomplete,

    /// <summary>The archive is encrypted and no password was given.</summary>
    NoPassword,

    /// <summary>None of the passwords fits.</summary>
    WrongPassword,

    /// <summary>An article with headers is missing at every provider.</summary>
    Gone,

    /// <summary>An article with headers is damaged at every provider.</summary>
    Damaged,
}

/// <summary>An archive cannot be read. The detail completes "The archive is damaged or inconsistent (…)"; no password, no host path.</summary>
public sealed class ArchiveException(ArchiveFault fault, string detail) : Exception(detail)
{
    public ArchiveFault Fault => fault;

    public string Detail => Message;

    /// <summary>Number of volumes according to the archive; null if unknown.</summary>
    public int? Volumes { get; init; }
}
