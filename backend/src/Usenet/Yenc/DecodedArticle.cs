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

/// <summary>The defects of an article. Facts only: rejecting, asking elsewhere and accepting are decisions of the layer above.</summary>
[Flags]
public enum ArticleDefects
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>No block begins, in any encoding that is decoded; <see cref="DecodedArticle.Encoding"/> says which encoding it looks like. Nothing was decoded.</summary>
    NoHeader = 1 << 0,

    /// <summary>The article is text, as takedown notices are. Comes with <see cref="NoHeader"/>.</summary>
    NotBinary = 1 << 1,

    /// <summary>A block of yEnc has no <c>=yend</c>, or the terminating line of the article never came.</summary>
    Truncated = 1 << 2,

    /// <summary>The decoded length or the size in <c>=yend</c> differs from the range, or from each other where there is no range.</summary>
    SizeMismatch = 1 << 3,

    /// <summary>The checksum that covers exactly this part differs from that of the decoded bytes.</summary>
    CrcMismatch = 1 << 4,

    /// <summary>A size or range that cannot be: zero, negative, reversed, out of bounds. The fields concerned are null.</summary>
    BadRange = 1 << 5,

    /// <summary><c>=ybegin</c> has <c>part=</c> but no <c>=ypart</c> follows: the place in the file is unknown.</summary>
    NoPartLine = 1 << 6,

    /// <summary>A second block begins. Only the first one was decoded.</summary>
    SecondHeader = 1 << 7,

    /// <summary>Keyword lines end in a bare LF.</summary>
    BareLineFeeds = 1 << 8,

    /// <summary>A keyword line is longer than <see cref="ArticleDecoder.MaxLineLength"/>; the bytes beyond it are lost.</summary>
    LineTooLong = 1 << 9,

    /// <summary>The data is longer than <see cref="ArticleDecoder.MaxDecodedLength"/>; the bytes beyond it are lost.</summary>
    TooLong = 1 << 10,

    /// <summary>A checksum that would cover exactly this part is there and is no number, and none that can be read covers it.</summary>
    UnreadableCrc = 1 << 11,

    /// <summary>A line of uuencode is not as long as it says, or holds a character that none can have. It was left out.</summary>
    DamagedLine = 1 << 12,
}
