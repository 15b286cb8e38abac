namespace Sluice.Usenet.Nzb;

/// <summary>How much an NZB may ask of the reader. The defaults hold the largest posts that exist several times over.</summary>
/// <remarks>Immutable.</remarks>
public sealed record NzbLimits
{
    /// <summary>The limits of the product.</summary>
    public static NzbLimits Default { get; } = new();

    /// <summary>Plain XML in bytes.</summary>
    public long MaxBytes { get; init; } = 256L << 20;

    /// <summary>Plain bytes per compressed byte; text compresses to a tenth or a twentieth, a bomb to a thousandth.</summary>
    public int MaxRatio { get; init; } = 200;

    /// <summary>Number of file elements, merged ones included.</summary>
    public int MaxFiles { get; init; } = 50_000;

    /// <summary>Number of segment elements, and of segments with holes counted in; those of merged files included, because they took the same work.</summary>
    public int MaxSegments { get; init; } = 3_000_000;

    /// <summary>Segments of one file that the NZB does not list but the numbers of the others imply, because each takes memory.</summary>
    public int MaxHoles { get; init; } = 1_000_000;

    /// <summary>A subject in UTF-8 bytes.</summary>
    public int MaxSubjectBytes { get; init; } = 4 << 10;

    /// <summary>One attribute in characters.</summary>
    public int MaxAttributeLength { get; init; } = 64 << 10;

    /// <summary>The text of one element in characters.</summary>
    public int MaxContentLength { get; init; } = 64 << 10;

    /// <summary>Characters from one opening bracket to the next, so that no tag, comment or CDATA section fills the memory; brackets inside of those two count as text.</summary>
    public int MaxMarkupLength { get; init; } = 256 << 10;

    /// <summary>Elements inside elements; an NZB needs four.</summary>
    public int MaxDepth { get; init; } = 16;

    /// <summary>Different names of elements, attributes and namespaces; an NZB needs a dozen.</summary>
    public int MaxNames { get; init; } = 4096;

    /// <summary>One of these names in characters; each is kept to the end of the document.</summary>
    public int MaxNameLength { get; init; } = 1024;
}
