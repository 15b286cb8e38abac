using System.Text;

namespace Sluice.Usenet.Yenc;

/// <summary>The claims that an article makes before its data: <c>=ybegin</c> and <c>=ypart</c>, or uuencode's <c>begin</c>, which only has a name.</summary>
/// <remarks>
/// The poster claims all of this; absent and impossible fields are null. Part number and range identify an article; size, total and name are only
/// hints, because some posts falsify them.
/// </remarks>
public readonly record struct ArticleHeader
{
    public long? FileSize { get; init; }

    public int? Part { get; init; }

    public int? Total { get; init; }

    /// <summary>Offset of the part's first byte in the file, 0-based. 0 for a single-part article. Null together with <see cref="End"/>.</summary>
    public long? Begin { get; init; }

    /// <summary>Offset just after the part's last byte. The file size for a single-part article.</summary>
    public long? End { get; init; }

    /// <summary>The claimed line length, in encoded bytes.</summary>
    public int? LineLength { get; init; }

    /// <summary>Whether a <c>=ypart</c> line was present.</summary>
    public bool HasPartLine { get; init; }

    /// <summary>Whether <c>=ybegin</c> has <c>part=</c>, whatever its value.</summary>
    internal bool HasPartField { get; init; }

    /// <summary>The posted name, trimmed; valid until the decoder's <see cref="ArticleDecoder.Reset"/>. <see cref="Name"/> stays valid.</summary>
    public ReadOnlyMemory<byte> NameBytes { get; init; }

    /// <summary>The name as text: UTF-8 if valid, otherwise Latin-1. Decoded at every call.</summary>
    public string Name => DecodeName(NameBytes.Span);

    /// <summary>The decoded length according to the range, in bytes; null without a range.</summary>
    public long? PartLength => End - Begin;

    /// <summary>Whether the checksum of the whole file covers exactly this part.</summary>
    /// <remarks>If the range and file size are known, they decide. Otherwise <c>total=1</c> counts if nothing contradicts it.</remarks>
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
