using System.Text;

namespace Sluice.Usenet.Yenc;

/// <summary>What an article says about itself before its data: the lines <c>=ybegin</c> and <c>=ypart</c>, or <c>begin</c> of uuencode, which has a name alone.</summary>
/// <remarks>
/// All of it is a claim of the poster; a field that is absent or cannot be is null. Identity of an article is its part
/// number and range; size, total and name are hints that lie now and then.
/// </remarks>
public readonly record struct ArticleHeader
{
    /// <summary>Length of the posted file in bytes.</summary>
    public long? FileSize { get; init; }

    /// <summary>1-based number of this part.</summary>
    public int? Part { get; init; }

    /// <summary>Number of parts.</summary>
    public int? Total { get; init; }

    /// <summary>Offset of the part's first byte in the file, 0-based. 0 for a single-part article. Null together with <see cref="End"/>.</summary>
    public long? Begin { get; init; }

    /// <summary>Offset right after the part's last byte, 0-based. The file size for a single-part article.</summary>
    public long? End { get; init; }

    /// <summary>The length that lines are said to have, in encoded bytes.</summary>
    public int? LineLength { get; init; }

    /// <summary>True when a <c>=ypart</c> line was there.</summary>
    public bool HasPartLine { get; init; }

    /// <summary>True when <c>=ybegin</c> has <c>part=</c>, whatever its value.</summary>
    internal bool HasPartField { get; init; }

    /// <summary>
    /// The name as posted, outer spaces removed. Lent by the decoder: valid until its <see cref="ArticleDecoder.Reset"/>; a
    /// caller that needs the name longer takes <see cref="Name"/> before.
    /// </summary>
    public ReadOnlyMemory<byte> NameBytes { get; init; }

    /// <summary>The name as text: UTF-8 when its bytes are that, Latin-1 otherwise. Decoded anew at every call.</summary>
    public string Name => DecodeName(NameBytes.Span);

    /// <summary>The decoded length that the range promises, in bytes; null without a range.</summary>
    public long? PartLength => End - Begin;

    /// <summary>True when the checksum of the whole file is that of this part.</summary>
    /// <remarks>A range and a size that are known decide; <c>total=1</c> counts where they do not contradict it.</remarks>
    internal bool IsWholeFile
    {
        get
        {
            if (!HasPartLine)
                return !HasPartField;
            if (Begin is not null && FileSize is not null)
                return Begin == 0 && End == FileSize;
            return Total == 1 && Part is null or 1 && Begin is null or 0;
        }
    }

    private static string DecodeName(ReadOnlySpan<byte> bytes) =>
        System.Text.Unicode.Utf8.IsValid(bytes) ? Encoding.UTF8.GetString(bytes) : Encoding.Latin1.GetString(bytes);
}
