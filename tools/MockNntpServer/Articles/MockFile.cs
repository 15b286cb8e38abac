namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>A posted file of a release, with its name and its division into articles.</summary>
public sealed record MockFile
{
    /// <summary>Default decoded bytes per article, a common choice of posters.</summary>
    public const int DefaultArticleSize = 716_800;

    /// <summary>Name in subject, NZB and yEnc header.</summary>
    public required string Name { get; init; }

    public required long Size { get; init; }

    /// <summary>Decoded bytes per article. The last article has the remainder.</summary>
    public int ArticleSize { get; init; } = DefaultArticleSize;

    /// <summary>Decoded bytes of each article in order, for uneven parts; null for equal parts.</summary>
    public IReadOnlyList<int>? PartLengths { get; init; }

    /// <summary>Whether the file is uuencoded, as in old posts. Lines are full if the article size is a multiple of 45 bytes.</summary>
    public bool IsUuencoded { get; init; }

    /// <summary>The content; null for synthetic content. The mock must know it from its options or from a posted release.</summary>
    public MediaContent? Content { get; init; }

    /// <summary>Subject in the NZB; null for the default with counter, name and size.</summary>
    public string? Subject { get; init; }

    public static MockFile From(MediaContent content, int articleSize = DefaultArticleSize) =>
        new() { Name = content.Name, Size = content.Length, ArticleSize = articleSize, Content = content };

    /// <summary>Returns the part lengths in order. An empty file has one empty part.</summary>
    internal int[] CutIntoParts()
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(Size, 0);
        ArgumentOutOfRangeException.ThrowIfLessThan(ArticleSize, 1);
        if (PartLengths is { } lengths)
        {
            if (lengths.Count == 0 || lengths.Min() < 0 || lengths.Sum(length => (long)length) != Size)
                throw new ArgumentException($"The parts of {Name} do not add up to its size.");
            return [.. lengths];
        }

        var parts = new int[checked((int)Math.Max(1, (Size + ArticleSize - 1) / ArticleSize))];
        Array.Fill(parts, ArticleSize);
        parts[^1] = (int)(Size - ((long)ArticleSize * (parts.Length - 1)));
        return parts;
    }
}
