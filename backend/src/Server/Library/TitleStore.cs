using System.Data.Common;
using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Media.Titles;

namespace Sluice.Server.Library;

/// <summary>Facts about a release that lists show beside its name.</summary>
/// <param name="Title">The parsed name; null if the name could not be parsed.</param>
/// <param name="Sampled">How many articles the import found or missed when it sampled the release; 0 without a sample.</param>
/// <param name="Missing">Sampled articles that no provider had.</param>
internal sealed record ReleaseFacts(ReleaseTitle? Title, int Sampled, int Missing)
{
    /// <summary>The fraction of sampled articles that were missing, from 0 to 1; null if none is known to be missing.</summary>
    public double? MissingShare => Missing > 0 ? (double)Missing / Math.Max(Missing, Sampled) : null;

    /// <summary>Parses the title of a file from release and file name, without the database.</summary>
    public static ReleaseTitle? TitleOf(LibraryFile file) => new ReleaseFacts(ReleaseTitle.Parse(file.Release.Name), 0, 0).TitleOf(file.Path);

    /// <summary>Returns the title of a file. In a pack, the file's name determines the episode.</summary>
    public ReleaseTitle? TitleOf(string path)
    {
        if (Title is { Season: null } or { Episodes: not null })
            return Title;
        var own = ReleaseTitle.Parse(path[(path.LastIndexOf('/') + 1)..]);
        return Title is null || own is not { Episodes: { } episodes } ? Title ?? own : Title with { Season = own.Season ?? Title.Season, Episodes = episodes };
    }
}

/// <summary>Columns of <c>release</c> that hold <see cref="ReleaseFacts"/>.</summary>
internal record FactsRow
{
    /// <summary>The columns for a release <c>r</c>.</summary>
    public const string Columns =
        "r.title AS Title, r.year AS Year, r.season AS Season, r.episodes AS Episodes, r.quality AS Quality, r.sampled AS Sampled, r.missing AS Missing";

    public long Id { get; init; }
    public string? Title { get; init; }
    public long? Year { get; init; }
    public string? Season { get; init; }
    public string? Episodes { get; init; }
    public string? Quality { get; init; }
    public long Sampled { get; init; }
    public long Missing { get; init; }

    public ReleaseFacts ReadFacts() => new(
        Title is null ? null : new ReleaseTitle(Title) { Year = (int?)Year, Season = Season, Episodes = Episodes, Quality = Quality }, (int)Sampled, (int)Missing);
}

/// <summary>Reads and writes titles and sample results of releases.</summary>
internal sealed class TitleStore(SluiceDatabase database)
{
    // Parsing a name takes about 10 µs and its index row slightly more, so a transaction stays far below 50 ms.
    private const int PerTransaction = 200;

    /// <summary>Reads the facts of releases by row number; skips unknown ones. Runs in the caller's transaction.</summary>
    public static Dictionary<long, ReleaseFacts> Find(DbConnection connection, IEnumerable<long> releases) =>
        connection.Query<FactsRow>(
                $"SELECT r.id AS Id, {FactsRow.Columns} FROM release r WHERE {SqlDialect.In("r.id", "@list")}", new { list = SqlDialect.List([.. releases]) })
            .ToDictionary(row => row.Id, row => row.ReadFacts());

    /// <summary>Stores the title parsed from a release's name. Runs in the caller's transaction.</summary>
    public static void SetTitle(DbConnection connection, long release, string name)
    {
        var title = ReleaseTitle.Parse(name);
        connection.Execute(
            "UPDATE release SET titled = 1, title = @title, year = @year, season = @season, episodes = @episodes, quality = @quality WHERE id = @release",
            new { release, title = title?.Title, year = title?.Year, season = title?.Season, episodes = title?.Episodes, quality = title?.Quality });
    }

    /// <summary>Stores the result of a sample. Runs in the caller's transaction.</summary>
    public static void SetSample(DbConnection connection, long release, int sampled, int missing) =>
        connection.Execute("UPDATE release SET sampled = @sampled, missing = @missing WHERE id = @release", new { release, sampled, missing });

    /// <summary>Adds titles to some releases from an earlier version. Returns whether more may be left.</summary>
    public Task<bool> FillAsync(CancellationToken cancellationToken) => database.WriteAsync(
        connection =>
        {
            List<UntitledRow> rows = [.. connection.Query<UntitledRow>(
                $"SELECT id AS Id, name AS Name FROM release {SqlDialect.IndexedBy("release_untitled")} WHERE titled = 0 LIMIT @most", new { most = PerTransaction })];
            foreach (var row in rows)
                SetTitle(connection, row.Id, row.Name);
            return rows.Count == PerTransaction;
        },
        cancellationToken);

    internal sealed record UntitledRow(long Id, string Name);
}
