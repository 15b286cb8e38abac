namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>One posted file of a release: how it is named and cut into articles.</summary>
public sealed record MockFile
{
    /// <summary>Decoded bytes per article where nothing else is said, as most posters choose it.</summary>
    public const int DefaultArticleSize = 716_800;

    /// <summary>Name in subject, NZB and header.</summary>
    public required string Name { get; init; }

    /// <summary>Bytes of the file.</summary>
    public required long Size { get; init; }

    /// <summary>Decoded bytes per article; the last one holds the rest.</summary>
    public int ArticleSize { get; init; } = DefaultArticleSize;

    /// <summary>Decoded bytes of each article in order, for posts with uneven parts; null cuts evenly.</summary>
    public IReadOnlyList<int>? PartLengths { get; init; }

    /// <summary>Whether it is posted as uuencode, as posts of old are. Lines are full where the articles are cut at a multiple of 45 bytes.</summary>
    public bool IsUuencoded { get; init; }

    /// <summary>The bytes; null for synthetic content. The mock must know them: by its options, or because the release was posted there.</summary>
    public MediaContent? Content { get; init; }

    /// <summary>Subject in the NZB; null for the usual one with counter, name and size.</summary>
    public string? Subject { get; init; }

    /// <summary>A file with the bytes of a real one.</summary>
    public static MockFile From(MediaContent content, int articleSize = DefaultArticleSize) =>
        new() { Name = content.Name, Size = content.Length, ArticleSize = articleSize, Content = content };

    /// <summary>Lengths of the parts in order; a file without bytes has one empty part.</summary>
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
