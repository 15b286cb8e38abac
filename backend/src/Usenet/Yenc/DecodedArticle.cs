namespace Sluice.Usenet.Yenc;

/// <summary>The facts about a decoded article, in the same terms for every encoding.</summary>
public readonly record struct DecodedArticle
{
    public ArticleEncoding Encoding { get; init; }

    /// <summary>The claims before the data; empty without a header. The decoder owns the name.</summary>
    public ArticleHeader Header { get; init; }

    /// <summary>The trailer's claims; null without <c>=yend</c> or <c>end</c>.</summary>
    public ArticleTrailer? Trailer { get; init; }

    public long DecodedLength { get; init; }

    /// <summary>CRC-32 of the written bytes.</summary>
    public uint ComputedCrc { get; init; }

    /// <summary>
    /// The checksum that covers exactly this part: <c>pcrc32</c>, or <c>crc32</c> if the part is the whole file. Null if the article has none, so that its data
    /// can be neither confirmed nor refuted.
    /// </summary>
    public uint? ExpectedCrc { get; init; }

    /// <summary>The size stated in <c>=yend</c>, in bytes.</summary>
    public long? TrailerSize => Trailer?.Size;

    public ArticleDefects Defects { get; init; }
}

/// <summary>The claims that an article makes after its data, in <c>=yend</c> or uuencode's <c>end</c>. Absent and unreadable fields are null.</summary>
public readonly record struct ArticleTrailer
{
    /// <summary>Length of the part, or of the file in a single-part article, in bytes.</summary>
    public long? Size { get; init; }

    public int? Part { get; init; }

    /// <summary><c>pcrc32</c>, the checksum of the part. Zero is valid.</summary>
    public uint? PartCrc { get; init; }

    /// <summary>Whether <c>pcrc32</c> is present but not a number.</summary>
    internal bool IsPartCrcUnreadable { get; init; }

    /// <summary><c>crc32</c>, the checksum of the whole file. Zero is valid.</summary>
    public uint? FileCrc { get; init; }

    /// <summary>Whether <c>crc32</c> is present but not a number.</summary>
    internal bool IsFileCrcUnreadable { get; init; }
}

/// <summary>How the body of an article is encoded.</summary>
public enum ArticleEncoding
{
    /// <summary>Nothing seen so far identifies the encoding.</summary>
    Unknown,

    Yenc,

    Uuencode,

    Base64,

    /// <summary>Text without a file.</summary>
    Text,
}

/// <summary>Defects of an article. Facts only: the layer above decides whether to reject, retry or accept.</summary>
[Flags]
public enum ArticleDefects
{
    None = 0,

    /// <summary>No supported block was found, so nothing was decoded. <see cref="DecodedArticle.Encoding"/> is the most likely encoding.</summary>
    NoHeader = 1 << 0,

    /// <summary>The article is text, such as a takedown notice. Always set together with <see cref="NoHeader"/>.</summary>
    NotBinary = 1 << 1,

    /// <summary>A yEnc block has no <c>=yend</c>, or the terminating line of the article never arrived.</summary>
    Truncated = 1 << 2,

    /// <summary>The decoded length, the claimed range and the size in <c>=yend</c> do not all agree.</summary>
    SizeMismatch = 1 << 3,

    /// <summary>The decoded bytes do not match the checksum of exactly this part.</summary>
    CrcMismatch = 1 << 4,

    /// <summary>An impossible size or range: zero, negative, reversed or out of bounds. The affected fields are null.</summary>
    BadRange = 1 << 5,

    /// <summary><c>=ybegin</c> has <c>part=</c> but no <c>=ypart</c> follows, so the offset in the file is unknown.</summary>
    NoPartLine = 1 << 6,

    /// <summary>The article contains a second block. Only the first one was decoded.</summary>
    SecondHeader = 1 << 7,

    /// <summary>Keyword lines end in a bare LF.</summary>
    BareLineFeeds = 1 << 8,

    /// <summary>A keyword line exceeds <see cref="ArticleDecoder.MaxLineLength"/>; its excess bytes are lost.</summary>
    LineTooLong = 1 << 9,

    /// <summary>The data exceeds <see cref="ArticleDecoder.MaxDecodedLength"/>; its excess bytes are lost.</summary>
    TooLong = 1 << 10,

    /// <summary>A checksum for exactly this part is present but not a number, and no readable checksum covers the part.</summary>
    UnreadableCrc = 1 << 11,

    /// <summary>A uuencode line has the wrong length or an impossible character. It was skipped.</summary>
    DamagedLine = 1 << 12,
}
