namespace Sluice.Usenet.Yenc;

/// <summary>What an article says about itself after its data: the line <c>=yend</c>, or <c>end</c> of uuencode, which has no field. Absent and unreadable fields are null.</summary>
public readonly record struct ArticleTrailer
{
    /// <summary>Length of the part, or of the file in a single-part article, in bytes.</summary>
    public long? Size { get; init; }

    /// <summary>1-based number of the part.</summary>
    public int? Part { get; init; }

    /// <summary><c>pcrc32</c>, the checksum of the part. Zero is a valid one.</summary>
    public uint? PartCrc { get; init; }

    /// <summary>True when <c>pcrc32</c> is there and no number.</summary>
    internal bool IsPartCrcUnreadable { get; init; }

    /// <summary><c>crc32</c>, the checksum of the whole file. Zero is a valid one.</summary>
    public uint? FileCrc { get; init; }

    /// <summary>True when <c>crc32</c> is there and no number.</summary>
    internal bool IsFileCrcUnreadable { get; init; }
}
