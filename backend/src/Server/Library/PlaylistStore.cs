using Dapper;
using Sluice.Server.Database;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Library;

/// <summary>A film, an episode or a piece of music in a playlist.</summary>
/// <param name="Path">Path below <c>/content</c>.</param>
/// <param name="Title">The title, or the file name if there is none.</param>
/// <param name="Duration">Length in milliseconds; null if unknown.</param>
internal sealed record PlaylistFile(string Path, string Title, long? Duration);

/// <summary>The paths of playlists below <c>/view</c> (DAV-86).</summary>
internal static class PlaylistPath
{
    public const string Extension = ".m3u";
    private const string Root = "playlists";

    /// <summary>Returns the path of a folder's playlist. Empty names mean the whole library.</summary>
    public static string Of(IReadOnlyList<string> folder) => string.Join('/', [Root, .. folder]) + Extension;

    /// <summary>Returns the folder below <c>/content</c> that a playlist lists; null if the path is not a playlist.</summary>
    public static IReadOnlyList<string>? FolderOf(IReadOnlyList<string> path)
    {
        if (path is [Root + Extension])
            return [];
        var isPlaylist = path is [Root, .., var last] && last.Length > Extension.Length && last.EndsWith(Extension, StringComparison.Ordinal);
        return isPlaylist ? [.. path.Skip(1).SkipLast(1), path[^1][..^Extension.Length]] : null;
    }
}

/// <summary>Lists the playable files of a folder.</summary>
internal sealed class PlaylistStore(SluiceDatabase database, LibraryTree tree)
{
    /// <summary>Maximum number of files in a playlist.</summary>
    public const int Most = 1_000;

    // Files that are not playable count too, so that a request never reads a whole library without films.
    private const int MostRows = 20 * Most;

    /// <summary>
    /// Lists the films and music below a folder of <c>/content</c>: newest release first, and files within a release by name. Empty names mean the whole
    /// library. Null if the path is not a folder.
    /// </summary>
    public async Task<IReadOnlyList<PlaylistFile>?> ListAsync(IReadOnlyList<string> names, CancellationToken cancellationToken)
    {
        switch (await tree.FindAsync(names, cancellationToken))
        {
            case RootEntry:
                return await ReadAsync(new Scope(Everything), cancellationToken);
            case CategoryEntry { Name: BuiltInClip.Category } clip:
                return await tree.ListAsync(clip, cancellationToken).OfType<FileEntry>().Select(entry => new PlaylistFile(entry.File.TreePath, entry.Name, null)).ToListAsync(cancellationToken);
            case CategoryEntry category:
                return await ReadAsync(new Scope("r.category = @Category", Category: category.Name), cancellationToken);
            case ReleaseEntry release:
                return await ReadAsync(new Scope("r.id = @Id", release.Release.Id), cancellationToken);
            case FolderEntry folder:
                return await ReadAsync(new Scope("r.id = @Id AND f.path_key > @inside AND f.path_key < @behind", folder.Release.Id, Key: PathKey.OfPath(folder.Path)), cancellationToken);
            default:
                return null;
        }
    }

    internal const string Everything = "1 = 1";

    // Force the publication order, because the planner would otherwise read and sort all files.
    internal static string SqlOf(string condition) =>
        $"""
        SELECT r.category AS Category, r.name AS Release, f.path_key AS PathKey, m.duration AS Duration, {FactsRow.Columns}
        FROM release r {(condition == Everything ? SqlDialect.IndexedBy("release_published") : "")} JOIN library_file f ON f.release_id = r.id LEFT JOIN file_media m ON m.file_id = f.id
        WHERE {condition} ORDER BY r.published_at DESC, r.id DESC, f.path_key LIMIT @most
        """;

    private Task<IReadOnlyList<PlaylistFile>> ReadAsync(Scope scope, CancellationToken cancellationToken)
    {
        var (inside, behind) = (scope.Key + PathKey.Separator, scope.Key + PathKey.Behind);
        return database.ReadAsync<IReadOnlyList<PlaylistFile>>(
            connection =>
            [
                .. connection.Query<PlaylistRow>(SqlOf(scope.Condition), new { scope.Category, scope.Id, inside, behind, most = MostRows }, buffered: false)
                    .Where(row => row.Plays)
                    .Take(Most)
                    .Select(row => row.Read()),
            ],
            cancellationToken);
    }

    private sealed record Scope(string Condition, long Id = 0, string Category = "", string Key = "");

    internal sealed record PlaylistRow : FactsRow
    {
        public required string Category { get; init; }
        public required string Release { get; init; }
        public required string PathKey { get; init; }
        public long? Duration { get; init; }

        public bool Plays => MediaSignature.CategoryOf(MediaSignature.KindOf(NameJudge.ExtensionOf(PathKey))) is MediaCategory.Video or MediaCategory.Audio;

        public PlaylistFile Read()
        {
            var path = Library.PathKey.ToPath(PathKey);
            return new PlaylistFile($"{Category}/{Release}/{path}", Words(ReadFacts().TitleOf(path)) ?? path[(path.LastIndexOf('/') + 1)..], Duration);
        }

        private static string? Words(ReleaseTitle? title) => title switch
        {
            null or { Season: not null, Episodes: null } => null,
            { Season: { } season, Episodes: { } episodes } => $"{title.Title} S{season.PadLeft(2, '0')}E{episodes.PadLeft(2, '0')}",
            { Episodes: { } episodes } => $"{title.Title} {episodes}",
            { Year: { } year } => $"{title.Title} ({year})",
            _ => title.Title,
        };
    }
}
