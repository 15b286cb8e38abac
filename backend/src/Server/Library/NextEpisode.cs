using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>The episode after another one of the same series and category.</summary>
/// <param name="Path">Path below <c>/content</c>.</param>
internal sealed record NextEpisode(Guid Id, string Path, ReleaseTitle Title)
{
    // A series has hundreds of episodes, each in a few releases, and a pack has some dozen files.
    private const int MostReleases = 2_000;
    private const int MostFiles = 2_000;

    internal const string SeriesSql =
        $"""
        SELECT r.id AS Id, r.name AS Name, {FactsRow.Columns} FROM release r
        WHERE r.category = @category AND lower(r.title) = lower(@title) ORDER BY r.id DESC LIMIT @most
        """;

    /// <summary>
    /// Finds the episode after a file, or null. Compares only names, so it fetches nothing. Prefers a file of the same release, then of the same quality, then
    /// the larger file. Runs in the caller's transaction.
    /// </summary>
    public static NextEpisode? Find(DbConnection connection, LibraryFile file, ReleaseFacts facts)
    {
        if (facts.TitleOf(file.Path) is not { } title || EpisodePlace.Of(title) is not { } here)
            return null;
        var series = connection.Query<SeriesRow>(SeriesSql, new { category = file.Release.Category, title = title.Title, most = MostReleases })
            .Where(row => row.Year is null || title.Year is null || row.Year == title.Year)
            .ToDictionary(row => row.Id);
        List<Episode> episodes = [.. EpisodesOf(connection, series, here)];
        var next = episodes.Where(episode => episode.Place.Continues(here)).ToList();
        if (next.Count == 0 && !episodes.Exists(episode => episode.Place.IsLaterThan(here)))
            next = episodes.FindAll(episode => episode.Place.BeginsSeasonAfter(here));
        var best = next
            .OrderBy(episode => episode.Place.First)
            .ThenByDescending(episode => episode.Release.Id == file.Release.Id)
            .ThenByDescending(episode => episode.Title.Quality == title.Quality)
            .ThenByDescending(episode => episode.Length)
            .FirstOrDefault();
        return best is null ? null : new NextEpisode(best.Id, $"{file.Release.Category}/{best.Release.Name}/{best.Path}", best.Title);
    }

    private static IEnumerable<Episode> EpisodesOf(DbConnection connection, Dictionary<long, SeriesRow> series, EpisodePlace here)
    {
        // The files of a pack have their own episode numbers, so only these identify the next episode.
        var wanted = series.Values.Where(row => EpisodePlace.Of(row.ReadFacts().Title) is not { } place || place.IsLaterThan(here) || place.BeginsSeasonAfter(here)).Select(row => row.Id);
        var files = connection.Query<SeriesFileRow>(
            $"SELECT id AS Id, release_id AS ReleaseId, path_key AS PathKey, length AS Length FROM library_file WHERE {SqlDialect.In("release_id", "@list")} LIMIT @most",
            new { list = SqlDialect.List([.. wanted]), most = MostFiles });
        foreach (var file in files)
        {
            var (release, path) = (series[file.ReleaseId], PathKey.ToPath(file.PathKey));
            if (MediaSignature.CategoryOf(MediaSignature.KindOf(NameJudge.ExtensionOf(path))) == MediaCategory.Video
                && release.ReadFacts().TitleOf(path) is { } title && EpisodePlace.Of(title) is { } place)
                yield return new Episode(Guid.Parse(file.Id), release, path, title, place, file.Length);
        }
    }

    private sealed record Episode(Guid Id, SeriesRow Release, string Path, ReleaseTitle Title, EpisodePlace Place, long Length);

    internal sealed record SeriesRow : FactsRow
    {
        public required string Name { get; init; }
    }

    internal sealed record SeriesFileRow(string Id, long ReleaseId, string PathKey, long Length);
}
