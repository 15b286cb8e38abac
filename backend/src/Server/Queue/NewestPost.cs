using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue;

/// <summary>Finds articles of the newest NZB for measuring a provider's speed. Thread-safe.</summary>
internal sealed class NewestPost(QueueStore queue, LibraryStore library, StoredNzbReader nzbs)
{
    // A file with fewer segments may not be the film, so keep looking. The maximum covers 200 MB despite some misses.
    private const int ManySegments = 40;
    private const int MostSegments = 500;

    /// <summary>Lists the articles; empty if there is no readable NZB.</summary>
    public async Task<IReadOnlyList<SpeedArticle>> ListAsync(CancellationToken cancellationToken)
    {
        var (queued, published) = (await queue.FindNewestNzbAsync(cancellationToken), await library.FindNewestNzbAsync(cancellationToken));
        var newest = queued is null || published?.At > queued.At ? published : queued;
        if (newest is null)
            return [];
        var articles = new List<SpeedArticle>();
        try
        {
            await foreach (var file in nzbs.ReadAsync(newest.Hash, new NzbHead(), cancellationToken))
            {
                if (file.Segments.Count >= ManySegments)
                    articles.Clear();
                articles.AddRange(file.Segments.Where(segment => !segment.IsHole).Take(MostSegments - articles.Count).Select(segment => new SpeedArticle(segment.Ids.Primary, segment.Bytes)));
                if (file.Segments.Count >= ManySegments || articles.Count == MostSegments)
                    break;
            }
        }
        catch (Exception e) when (e is NzbFormatException or StoredNzbLostException or IOException)
        {
            // Ignore the error, because the articles read so far suffice.
        }

        return articles;
    }
}
