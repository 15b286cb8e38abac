namespace Sluice.Usenet.Archives;

/// <summary>Why an archive cannot be streamed. Each is one reason of docs/contracts/import.md, section 9; the last two are those of articles.</summary>
public enum ArchiveFault
{
    /// <summary>It is damaged or contradicts itself.</summary>
    Broken,

    /// <summary>It is of a kind that cannot be streamed.</summary>
    Unsupported,

    /// <summary>It goes on in a volume that was not posted.</summary>
    Incomplete,

    /// <summary>It is encrypted and no password was given.</summary>
    NoPassword,

    /// <summary>None of the passwords fits.</summary>
    WrongPassword,

    /// <summary>An article that its headers are in is gone at every provider.</summary>
    Gone,

    /// <summary>An article that its headers are in is damaged at every provider.</summary>
    Damaged,
}

/// <summary>An archive cannot be read. Nothing was lost.</summary>
/// <param name="fault">Why.</param>
/// <param name="detail">The cause in words that complete "The archive is damaged or inconsistent (…)"; it holds no password and no path of the host.</param>
public sealed class ArchiveException(ArchiveFault fault, string detail) : Exception(detail)
{
    /// <summary>Why.</summary>
    public ArchiveFault Fault => fault;

    /// <summary>The cause in words.</summary>
    public string Detail => Message;

    /// <summary>How many volumes the archive has, where it says so; else null.</summary>
    public int? Volumes { get; init; }
}
