namespace Sluice.Usenet.Yenc;

/// <summary>What an article turned out to be, in the same words for every encoding.</summary>
public readonly record struct DecodedArticle
{
    /// <summary>How the body is encoded.</summary>
    public ArticleEncoding Encoding { get; init; }

    /// <summary>The facts before the data; its name is lent by the decoder. Empty without a header.</summary>
    public ArticleHeader Header { get; init; }

    /// <summary>The facts after the data; null when there is no <c>=yend</c> or <c>end</c>.</summary>
    public ArticleTrailer? Trailer { get; init; }

    /// <summary>Decoded bytes that were written.</summary>
    public long DecodedLength { get; init; }

    /// <summary>Checksum of the bytes that were written.</summary>
    public uint ComputedCrc { get; init; }

    /// <summary>
    /// The checksum that covers exactly this part: <c>pcrc32</c>, or <c>crc32</c> where the part is the whole file. Null
    /// when the article carries none: then nothing is proved and nothing refuted.
    /// </summary>
    public uint? ExpectedCrc { get; init; }

    /// <summary>The size that <c>=yend</c> states, in bytes.</summary>
    public long? TrailerSize => Trailer?.Size;

    /// <summary>Everything that is wrong.</summary>
    public ArticleDefects Defects { get; init; }
}

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

/// <summary>How the body of an article is encoded.</summary>
public enum ArticleEncoding
{
    /// <summary>Nothing has been seen that tells.</summary>
    Unknown,

    /// <summary>yEnc.</summary>
    Yenc,

    /// <summary>uuencode.</summary>
    Uuencode,

    /// <summary>MIME base64.</summary>
    Base64,

    /// <summary>Text that carries no file.</summary>
    Text,
}
