using System.Data.Common;
using Sluice.Server.Library;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Chooses the pictures of the front page, so that a first visit costs at most <see cref="MostRequests"/> requests and <see cref="MostBytes"/> bytes. The page
/// draws a card for each film without a picture.
/// </summary>
/// <remarks>For one response; not thread-safe.</remarks>
internal sealed class HomePictures
{
    private const int MostRequests = 12;
    private const long MostBytes = 240_000;

    private readonly HashSet<string> _chosen = [];
    private long _bytes;

    /// <summary>Chooses pictures for films that are playing. Runs in the caller's transaction.</summary>
    public IReadOnlyList<HomePicture> OfPlaying(DbConnection connection, IReadOnlyCollection<Guid> films)
    {
        if (films.Count == 0)
            return [];
        var found = PictureStore.FindByFilm(connection, films);
        return [.. films.Distinct().Select(film => (film, Hash: Choose(found[film]))).Where(pair => pair.Hash is not null).Select(pair => new HomePicture(IdPath.NameOf(pair.film), pair.Hash!))];
    }

    /// <summary>Returns the first picture within the limits, or null. A picture that was already chosen does not count again.</summary>
    public string? Choose(IEnumerable<ListedPicture> pictures)
    {
        foreach (var (hash, bytes) in pictures)
        {
            if (_chosen.Contains(hash))
                return hash;
            if (_chosen.Count == MostRequests || _bytes + bytes > MostBytes)
                continue;
            _chosen.Add(hash);
            _bytes += bytes;
            return hash;
        }

        return null;
    }
}
