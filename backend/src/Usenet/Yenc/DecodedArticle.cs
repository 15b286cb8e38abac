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
