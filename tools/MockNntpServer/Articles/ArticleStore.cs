using System.Collections.Concurrent;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Serves all articles of a mock: synthetic ones, media files, posted releases and the spool. Thread-safe.</summary>
internal sealed class ArticleStore
{
    private readonly ArticleCache _cache;
    private readonly IReadOnlyList<MediaContent> _media;

    // By seed. A layout takes only a few kilobytes per volume, so releases named by ids are kept like posted ones.
    private readonly ConcurrentDictionary<ulong, MockRelease> _posted = new();
    private readonly ConcurrentDictionary<(string Recipe, ulong Seed), Lazy<MockRelease>> _laidOut = new();
    private readonly SpoolFolder? _spool;
    private readonly long _cacheBytes;

    public ArticleStore(IReadOnlyList<MediaContent> media, string? spool, long cacheBytes)
    {
        _media = media;
        _spool = spool is null ? null : new SpoolFolder(spool);
        _cacheBytes = cacheBytes;
        _cache = new ArticleCache(cacheBytes);
    }

    /// <summary>Articles of the spool. Synthetic articles cannot be listed, because their number is unlimited.</summary>
    public IReadOnlyCollection<ArticleReference> SpoolArticles => _spool?.Articles ?? [];

    /// <summary>Finds an article by name; null if the mock cannot serve it.</summary>
    public ArticleReference? Find(string messageId)
    {
        if (_spool?.Find(messageId) is { } posted)
            return posted;
        if (!MockMessageId.TryParse(messageId, out var made) || !CanMake(made))
            return null;
        return new ArticleReference(messageId, made.File + 1, made.Part) { Made = made };
    }

    /// <summary>Returns the article from the cache, or creates it.</summary>
    public WireArticle Get(ArticleReference article) => _cache.GetOrAdd(article.MessageId, () => Make(article));

    /// <summary>Adds a release. It replaces an earlier one with the same seed.</summary>
    public void Post(MockRelease release) => _posted[release.Seed] = release;

    public int Cached => _cache.Count;

    public void Clear() => _cache.Clear();

    /// <summary>Whether all articles of a release fit into the cache.</summary>
    public bool HasRoomFor(MockRelease release) => release.LargestCost <= _cacheBytes;

    /// <summary>Returns size and CRC of an article for the NZB, and caches the article.</summary>
    public PostedSize Measure(MockMessageId id, MediaContent? media)
    {
        // The last part is measured before the file CRC is known. Its name is provisional, so caching it would be useless.
        var text = id.ToString();
        return id.Part == id.Parts ? ArticleEncoder.Measure(id, media) : _cache.GetOrAdd(text, () => ArticleEncoder.Encode(id, text, media)).Posted;
    }

    /// <summary>
    /// Returns another existing article: a neighbor in the file, or the same part of another release if it has one part. Null if the spool has no other.
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

    private bool CanMake(MockMessageId id) => id.Source == ContentSource.Plain || ContentOf(id)?.Length == id.FileSize;

    private WireArticle Make(ArticleReference article) => article.Made is { } made
        ? ArticleEncoder.Encode(made, article.MessageId, ContentOf(made))
        : SpoolFolder.Read(article);

    /// <summary>Returns the content of a file; null if it is synthetic or unknown.</summary>
    private MediaContent? ContentOf(MockMessageId id) => id.Source switch
    {
        ContentSource.Layout => _laidOut.GetOrAdd((id.Recipe!, id.Seed), static key => new Lazy<MockRelease>(() => LayOut(key.Recipe, key.Seed))).Value.Files.ElementAtOrDefault(id.File)?.Content,
        ContentSource.Media when _posted.TryGetValue(id.Seed, out var release) => release.Files.ElementAtOrDefault(id.File)?.Content,
        ContentSource.Media => _media.ElementAtOrDefault(id.File),
        _ => null,
    };

    private static MockRelease LayOut(string recipe, ulong seed)
    {
        try
        {
            return LayoutRecipe.TryParse(recipe, out var parsed) ? parsed.Make(seed) : new MockRelease(recipe, seed, []);
        }
        catch (ArgumentException)
        {
            // Empty, because a hand-written id may name an impossible layout.
            return new MockRelease(recipe, seed, []);
        }
    }
}
