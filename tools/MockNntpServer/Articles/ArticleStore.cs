using System.Collections.Concurrent;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Articles;

/// <summary>Everything a mock can serve: articles of arithmetic, of media files, of releases that were posted and of the spool. Thread-safe.</summary>
internal sealed class ArticleStore
{
    private readonly ArticleCache _cache;
    private readonly IReadOnlyList<MediaContent> _media;

    // By seed. A laid out release is some kilobytes for each volume, so those that ids name are kept like those that were posted.
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

    /// <summary>Takes a release, in place of an earlier one with the same seed.</summary>
    public void Post(MockRelease release) => _posted[release.Seed] = release;

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

    private bool CanMake(MockMessageId id) => id.Source == ContentSource.Plain || ContentOf(id)?.Length == id.FileSize;

    private WireArticle Make(ArticleReference article) => article.Made is { } made
        ? ArticleEncoder.Encode(made, article.MessageId, ContentOf(made))
        : SpoolFolder.Read(article);

    /// <summary>The content of a file; null where it is synthetic, or not known here.</summary>
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
            // An id made by hand names what cannot be laid out.
            return new MockRelease(recipe, seed, []);
        }
    }
}
