namespace Sluice.Usenet.Yenc;

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
