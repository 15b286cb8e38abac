namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Everything a mock can serve: articles of arithmetic, of media files and of the spool. Thread-safe.</summary>
internal sealed class ArticleStore
{
    private readonly ArticleCache _cache;
    private readonly IReadOnlyList<MediaContent> _media;
    private readonly SpoolFolder? _spool;
    private readonly long _cacheBytes;

    public ArticleStore(IReadOnlyList<MediaContent> media, string? spool, long cacheBytes)
    {
        _media = media;
        _spool = spool is null ? null : new SpoolFolder(spool);
        _cacheBytes = cacheBytes;
        _cache = new ArticleCache(cacheBytes);
    }

    /// <summary>Every article of the spool; those of arithmetic are without number.</summary>
    public IReadOnlyCollection<ArticleReference> SpoolArticles => _spool?.Articles ?? [];

    /// <summary>The article of a name, or null when no such article can exist here.</summary>
    public ArticleReference? Find(string messageId)
    {
        if (_spool?.Find(messageId) is { } posted)
            return posted;
        if (!MockMessageId.TryParse(messageId, out var made) || !CanMake(made))
            return null;
        return new ArticleReference(messageId, made.File + 1, made.Part) { Made = made };
    }

    /// <summary>The article itself, from the cache or made now.</summary>
    public WireArticle Get(ArticleReference article) => _cache.GetOrAdd(article.MessageId, () => Make(article));

    /// <summary>Articles that the cache holds.</summary>
    public int Cached => _cache.Count;

    /// <summary>Drops what the cache holds.</summary>
    public void Clear() => _cache.Clear();

    /// <summary>Whether all articles of a release can be in the cache together.</summary>
    public bool HasRoomFor(MockRelease release) => release.LargestCost <= _cacheBytes;

    /// <summary>What an NZB needs of an article, which goes into the cache on the way.</summary>
    public PostedSize Measure(MockMessageId id, MediaContent? media)
    {
        // The last one is measured before the CRC of the file is known, under a name that no client asks for.
        var text = id.ToString();
        return id.Part == id.Parts ? ArticleEncoder.Measure(id, media) : _cache.GetOrAdd(text, () => ArticleEncoder.Encode(id, text, media)).Posted;
    }

    /// <summary>
    /// Another article that exists: a neighbour of the same file, or the same part of another release where there is none.
    /// Null for a lone article of a spool.
    /// </summary>
    public ArticleReference? Neighbour(ArticleReference article)
    {
        if (article.Made is not { } made)
            return SpoolArticles.FirstOrDefault(other => other.MessageId != article.MessageId && other.File == article.File);

        var other = made.Source == ContentSource.Plain && made.Parts == 1
            ? made with { Seed = made.Seed + 1 }
            : made.Part < made.Parts
                ? made with { Part = made.Part + 1, Begin = made.Begin + made.Length, Length = (int)Math.Min(made.Length, made.FileSize - made.Begin - made.Length) }
                : made with { Part = made.Part - 1, Begin = Math.Max(0, made.Begin - made.Length), FileCrc = null };
        return other.Part < 1 ? null : Find(other.ToString());
    }

    private bool CanMake(MockMessageId id) =>
        id.Source == ContentSource.Plain || (id.File < _media.Count && _media[id.File].Length == id.FileSize);

    private WireArticle Make(ArticleReference article) => article.Made is { } made
        ? ArticleEncoder.Encode(made, article.MessageId, made.Source == ContentSource.Media ? _media[made.File] : null)
        : SpoolFolder.Read(article);
}
