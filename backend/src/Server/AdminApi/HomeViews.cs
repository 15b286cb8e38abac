using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Playbacks;
using Sluice.Server.Queue;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.AdminApi;

/// <summary>The front page in one response. Every query reads only an index and a few rows, however large the library is.</summary>
/// <remarks>Thread-safe.</remarks>
internal sealed class HomeViews(
    SluiceDatabase database,
    StreamViews streams,
    StatViews stats,
    RateStore rates,
    QueueRows queue,
    QueueActivity activity,
    PictureStore pictures,
    TimeProvider time)
{
    /// <summary>How long an issue is shown at most.</summary>
    public static readonly TimeSpan NeedWindow = TimeSpan.FromDays(7);

    private const int MostRecent = 12;
    private const int MostPlaying = 6;
    private const int MostProblems = 10;
    private const int MostGaps = 999;
    private const int StripPoints = 60;
    private const string FailedPrefix = "import-failed:";
    private const string Gaps = "gaps";

    public async Task<Home> ShowAsync(long seq, CancellationToken cancellationToken)
    {
        var running = activity.Current;
        var (nearest, work) = running.OrderByDescending(static pair => pair.Value.Percent).FirstOrDefault();
        var playing = streams.Rows().Items;
        var films = pictures.IsOn ? playing.Take(MostPlaying).Select(row => Guid.Parse(row.File.Id)).ToList() : [];
        var read = await database.ReadAsync(
            connection =>
            {
                var chosen = new HomePictures();
                return (
                    Needs: Needs(connection),
                    Pictures: chosen.OfPlaying(connection, films),
                    Recent: Recent(connection, pictures.IsOn ? chosen : null),
                    Queued: QueueStore.Count(connection),
                    Name: nearest is null ? null : QueueStore.Find(connection, nearest)?.Name);
            },
            cancellationToken);
        var state = queue.State;
        return new Home(
            read.Needs,
            [.. stats.Attention.Where(static row => row.Kind != AttentionKind.Log).Take(MostProblems)],
            [.. playing.Take(MostPlaying)],
            playing.Count,
            read.Pictures,
            read.Recent,
            new HomeQueue(read.Queued, running.Count, state.Paused, state.PausedUntil, read.Name, read.Name is null ? null : work?.Percent),
            await StripAsync(cancellationToken),
            stats.Steps,
            seq);
    }

    /// <summary>Hides an issue until a newer release has it too. Returns false if there is no such issue.</summary>
    public async Task<bool> SeeAsync(string id, DateTimeOffset at, CancellationToken cancellationToken)
    {
        if (id != Gaps && !(id.StartsWith(FailedPrefix, StringComparison.Ordinal) && Enum.TryParse<FailureReason>(id[FailedPrefix.Length..], out _)))
            return false;
        // Clamp the time, because a time in the future would also hide issues that come up until then.
        var until = Math.Min(at.ToUnixTimeMilliseconds(), time.WallTime().ToUnixTimeMilliseconds());
        await database.WriteAsync(
            connection => connection.Execute(
                "INSERT INTO seen_need (need, until) VALUES (@id, @until) ON CONFLICT (need) DO UPDATE SET until = max(until, excluded.until)", new { id, until }),
            cancellationToken);
        return true;
    }

    /// <summary>Returns the number of failed imports among the issues.</summary>
    public Task<int> CountFailedAsync(CancellationToken cancellationToken) => database.ReadAsync(
        connection =>
        {
            var since = SeenTimes(connection);
            return FailedImports.List(connection, reason => since(FailedPrefix + reason)).Sum(group => group.Count);
        },
        cancellationToken);

    private List<HomeNeed> Needs(DbConnection connection)
    {
        var since = SeenTimes(connection);
        var needs = FailedImports.List(connection, reason => since(FailedPrefix + reason))
            .Select(group => new HomeNeed(
                HomeNeedKind.ImportFailed, FailedPrefix + group.Reason, group.Reason, group.Count, group.Newest, FilmTitle.Of(ReleaseTitle.Parse(group.Newest)), null, null, group.At))
            .ToList();
        if (FindGaps(connection, since(Gaps)) is { } gaps)
            needs.Add(gaps);
        return needs;
    }

    /// <summary>Returns a function that maps an issue's id to a time. Only newer releases are unseen and recent enough to be shown.</summary>
    private Func<string, DateTimeOffset> SeenTimes(DbConnection connection)
    {
        var oldest = time.WallTime() - NeedWindow;
        var seen = connection.Query<SeenRow>("SELECT need AS Need, until AS Until FROM seen_need").ToDictionary(row => row.Need, row => StoredTime.Read(row.Until));
        return need => seen.TryGetValue(need, out var until) && until > oldest ? until : oldest;
    }

    private static HomeNeed? FindGaps(DbConnection connection, DateTimeOffset since)
    {
        var values = new { since = since.ToUnixTimeMilliseconds(), most = MostGaps };
        var count = connection.ExecuteScalar<int>(GapsSql, values);
        if (count == 0)
            return null;
        var row = connection.QueryFirst<RecentRow>($"{RecentSql} WHERE r.missing > 0 AND r.published_at > @since ORDER BY r.published_at DESC LIMIT 1", values);
        var facts = row.ReadFacts();
        return new HomeNeed(
            HomeNeedKind.Gaps, Gaps, null, count, row.Name, FilmTitle.Of(facts.Title), row.Path, facts.MissingShare, StoredTime.Read(row.PublishedAt));
    }

    private const string RecentSql =
        $"""
        SELECT r.id AS Id, r.category AS Category, r.name AS Name, r.bytes AS Bytes, r.published_at AS PublishedAt, {FactsRow.Columns},
          {FileListStore.LargestSql} AS Largest
        FROM release r
        """;

    internal const string NewestSql = $"{RecentSql} ORDER BY r.published_at DESC LIMIT @most";

    internal const string GapsSql = "SELECT count(*) FROM (SELECT 1 FROM release WHERE missing > 0 AND published_at > @since LIMIT @most)";

    private static List<HomeFilm> Recent(DbConnection connection, HomePictures? pictures)
    {
        List<RecentRow> rows = [.. connection.Query<RecentRow>(NewestSql, new { most = MostRecent })];
        var films = rows.ConvertAll(row => (Row: row, Facts: row.ReadFacts(), Id: FileListStore.FilmOf(row.ReadFacts(), row.Largest)));
        List<Guid> ids = [.. films.Select(film => film.Id).OfType<Guid>()];
        var (media, positions) = (MediaStore.Find(connection, ids), PositionStore.Find(connection, ids));
        var found = PictureStore.Find(connection, rows.ConvertAll(row => row.Id), ids);
        return films.ConvertAll(film => new HomeFilm(
            film.Row.Path,
            FilmTitle.Of(film.Facts.Title),
            film.Id is { } id ? IdPath.NameOf(id) : null,
            FilmMedia.Of(film.Id is { } file ? media.GetValueOrDefault(file) : null),
            film.Row.Bytes,
            StoredTime.Read(film.Row.PublishedAt),
            film.Facts.MissingShare,
            film.Id is { } watched ? positions.GetValueOrDefault(watched)?.Share : null,
            pictures?.Choose(found[film.Row.Id])));
    }

    private async Task<HomeStrip> StripAsync(CancellationToken cancellationToken)
    {
        var columns = await rates.ReadAsync(RateWindow.All[0], StripPoints, cancellationToken);
        return new HomeStrip(columns.Step, columns.Rates(static moved => moved.Received), columns.Rates(static moved => moved.Sent));
    }

    internal sealed record SeenRow(string Need, long Until);

    internal sealed record RecentRow : FactsRow
    {
        public required string Category { get; init; }
        public required string Name { get; init; }
        public long Bytes { get; init; }
        public long PublishedAt { get; init; }
        public string? Largest { get; init; }

        public string Path => $"{Category}/{Name}";
    }
}
