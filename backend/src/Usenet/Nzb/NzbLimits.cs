namespace Sluice.Usenet.Nzb;

/// <summary>Limits on the resources an NZB may consume. The defaults are several times the largest real posts. Immutable.</summary>
public sealed record NzbLimits
{
    public static NzbLimits Default { get; } = new();

    /// <summary>Maximum size of the uncompressed XML in bytes.</summary>
    public long MaxBytes { get; init; } = 256L << 20;

    /// <summary>Maximum uncompressed bytes per compressed byte; text reaches 10 to 20, a decompression bomb 1,000.</summary>
    public int MaxRatio { get; init; } = 200;

    /// <summary>Maximum number of file elements, including merged files.</summary>
    public int MaxFiles { get; init; } = 50_000;

    /// <summary>Maximum number of segment elements, and of segments including holes. Merged files count, because they cost the same work.</summary>
    public int MaxSegments { get; init; } = 3_000_000;

    /// <summary>Maximum number of holes in one file, because each hole takes memory.</summary>
    public int MaxHoles { get; init; } = 1_000_000;

    public int MaxSubjectBytes { get; init; } = 4 << 10;

    /// <summary>Maximum length of an attribute in characters.</summary>
    public int MaxAttributeLength { get; init; } = 64 << 10;

    /// <summary>Maximum length of an element's text in characters.</summary>
    public int MaxContentLength { get; init; } = 64 << 10;

    /// <summary>Maximum characters between two <c>&lt;</c>, so that no tag, comment or CDATA section exhausts memory.</summary>
    public int MaxMarkupLength { get; init; } = 256 << 10;

    /// <summary>Maximum nesting depth of elements; an NZB needs four.</summary>
    public int MaxDepth { get; init; } = 16;

    /// <summary>Maximum number of distinct element, attribute and namespace names; an NZB needs a dozen.</summary>
    public int MaxNames { get; init; } = 4096;

    /// <summary>Maximum length of such a name in characters, because each name is kept until the end of the document.</summary>
    public int MaxNameLength { get; init; } = 1024;
}
