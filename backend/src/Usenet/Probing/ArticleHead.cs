using Sluice.Usenet.Streams.Maps;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Probing;

/// <summary>The beginning of one article, taken while or after it arrived.</summary>
/// <param name="Provider">Index of the provider that delivers it.</param>
/// <param name="Header">Its yEnc header with a name of its own, or null when it has none.</param>
/// <param name="FirstBytes">Its first decoded bytes.</param>
/// <param name="DecodedLength">Decoded bytes of the whole article; null when it was given up before its end.</param>
/// <param name="IsIntact">False when it arrived whole but damaged or cut short, so that its decoded length says nothing.</param>
/// <param name="Checksum">Whether it carries a checksum that covers exactly it; unknown when it was given up before its end.</param>
internal sealed record ArticleHead(
    int Provider, ArticleHeader? Header, ReadOnlyMemory<byte> FirstBytes, long? DecodedLength, bool IsIntact, Carries Checksum = Carries.Unknown)
{
    /// <summary>Its encoding; unknown when it was given up before its end.</summary>
    public ArticleEncoding Encoding { get; init; }

    /// <summary>Whether the line came that ends its data.</summary>
    public bool HasTrailer { get; init; }

    /// <summary>Which evidence the articles of its file carry, as far as this one shows it.</summary>
    public ArticleHabit Habit => Header is not { } header ? default : new ArticleHabit(
        header.Part is null && !header.HasPartField ? Carries.Never : Carries.Yes,
        header.HasPartLine ? Carries.Yes : Carries.Never,
        Checksum);

    /// <summary>Whether it is the last of its file: the one that is taken to its end, because its trailer shows what the file carries.</summary>
    public bool EndsItsFile => Begin is not null && End == Header?.FileSize;

    /// <summary>Offset of its first byte in the file; null when no header tells.</summary>
    public long? Begin => Header is { HasPartLine: true } header ? header.Begin : null;

    /// <summary>Decoded bytes by the range of its header, else as counted; null when neither is known.</summary>
    public long? Length => Begin is not null ? Header?.PartLength : DecodedLength;

    /// <summary>Offset behind its last byte; null when no header tells.</summary>
    public long? End => Begin is null ? null : Header?.End;
}
