using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary><c>/api/files</c> and <c>/api/playlists</c>: the library tree, its files and its playlists.</summary>
internal static class FileResource
{
    private const string Content = "content";

    public static void MapFiles(this RouteGroupBuilder api)
    {
        var files = api.MapGroup("/files");
        files.MapGet("", ListAsync).WithName("ListFiles");
        files.MapGet("/{id}", ShowAsync).WithName("ShowFile");
        files.MapGet("/{id}/tracks", ListTracksAsync).WithName("ListTracks");
        files.MapPut("/{id}/position", SavePositionAsync).WithName("SavePosition");
        files.MapGet("/{id}/nzb", DownloadAsync).Produces<Stream>(StatusCodes.Status200OK, "application/x-nzb").WithName("DownloadFileNzb");
        api.MapGet("/playlists", ShowPlaylistAsync).WithName("ShowPlaylist");
        files.MapSubtitles();
    }

    // path: below /content; empty for the list of categories. q: searches everything below path.
    private static async Task<Results<Ok<FilePage>, JsonHttpResult<Problem>>> ListAsync(
        string? path, string? cursor, int? limit, string? q, string? sort, LibraryList list, EventHub events, CancellationToken cancellationToken)
    {
        var reader = new ListReader();
        var order = reader.Word<ListOrder>("sort", sort) ?? ListOrder.Name;
        var (after, most) = (reader.Place(order, cursor), reader.Limit(limit));
        if (reader.Problem is { } problem)
            return problem;

        string[] names = [.. (path ?? "").Split('/', StringSplitOptions.RemoveEmptyEntries)];
        // Read the number before the query, so that the client also gets events that occur during the query.
        var seq = events.Seq;
        var words = SearchText.WordsOf(q);
        var page = words.Count == 0
            ? await list.ListAsync(names, order, after, most, cancellationToken)
            : await list.SearchAsync(names, words, order, after, most, cancellationToken);
        return page is null
            ? AdminProblem.NotFound("There is no such folder.")
            : TypedResults.Ok(new FilePage(string.Join('/', names), [.. page.Items.Select(Row)], ListReader.CursorOf(order, page.Next), page.Total, seq));
    }

    // hours: lifetime of the signed link, one day by default.
    private static async Task<Results<Ok<FileDetail>, JsonHttpResult<Problem>>> ShowAsync(
        string id, int? hours, HttpContext http, LibraryTree tree, FileListStore list, BlobStore blobs, CompletedStore completed, CompleteFolder complete, PictureStore pictures, SignedLinks signed,
        CancellationToken cancellationToken)
    {
        if (hours is < 1 or > SignedLinks.MaxHours)
            return AdminProblem.BadInput("hours", $"Must be 1 to {SignedLinks.MaxHours}.");
        if (await FindAsync(id, tree, cancellationToken) is not { } file)
            return NotFound();
        var path = $"{Content}/{file.TreePath}";
        var until = signed.Until(hours ?? SignedLinks.DefaultHours);
        var hasRelease = file.Release.Id != 0;
        var item = hasRelease ? await completed.FindItemAsync(file.Release.Id, cancellationToken) : null;
        var links = new FileLinks(
            ClientAddress.Of(http.Request, path),
            signed.Make(http.Request, path, until),
            until,
            item is null ? null : complete.PathOf(item, file));
        var content = ContentMap.Unpack(file.Content);
        var film = hasRelease ? await list.FindFilmAsync(file, cancellationToken) : FilmFacts.None;
        return TypedResults.Ok(new FileDetail(
            Row(new ListedEntry(file.TreePath, file.Id, file.Length, file.LastModified, new RowPlace(0, "", 0)) { Facts = film.Release, Media = film.Media, Position = film.Position }),
            file.Release.Name,
            file.Release.Category,
            file.OriginalName,
            content.Cipher is not null,
            content.Extents.Select(extent => extent.PostedFile).Distinct().Count(),
            links,
            hasRelease && blobs.ContainsNzb(file.Release.NzbHash),
            film.Position?.At,
            FollowingEpisode.Of(film.Next),
            hasRelease && pictures.IsOn && MediaOf(file.Path) == FileMedia.Video && !await pictures.HasStillAsync(file.Id, cancellationToken)));
    }

    private static async Task<Results<Ok<FileTracks>, JsonHttpResult<Problem>>> ListTracksAsync(
        string id, LibraryTree tree, TrackProbe probe, CancellationToken cancellationToken)
    {
        if (await FindAsync(id, tree, cancellationToken) is not { } file)
            return NotFound();
        var (tracks, failure) = await probe.ReadAsync(file, cancellationToken);
        return TypedResults.Ok(tracks switch
        {
            null => new FileTracks(TracksState.Unreadable, null, null, [], SentenceOf(failure)),
            { Verdict: TracksVerdict.Known } => new FileTracks(
                TracksState.Known, ContainerOf(tracks.Kind), (long?)tracks.Duration?.TotalMilliseconds, [.. tracks.Tracks.Select(Shape)], null),
            { Verdict: TracksVerdict.OtherKind } => new FileTracks(
                TracksState.Unknown, ContainerOf(tracks.Kind), null, [], "Tracks of this kind of file are not read."),
            _ => new FileTracks(TracksState.Unknown, ContainerOf(tracks.Kind), null, [], "The header of this file cannot be understood."),
        });
    }

    // path: below /content; empty for the whole library. hours: lifetime of the link, one day by default.
    private static async Task<Results<Ok<PlaylistLink>, JsonHttpResult<Problem>>> ShowPlaylistAsync(
        string? path, int? hours, HttpContext http, LibraryTree tree, SignedLinks signed, CancellationToken cancellationToken)
    {
        if (hours is < 1 or > SignedLinks.MaxHours)
            return AdminProblem.BadInput("hours", $"Must be 1 to {SignedLinks.MaxHours}.");
        string[] names = [.. (path ?? "").Split('/', StringSplitOptions.RemoveEmptyEntries)];
        if (await tree.FindAsync(names, cancellationToken) is null or FileEntry)
            return AdminProblem.NotFound("There is no such folder.");
        var until = signed.Until(hours ?? SignedLinks.DefaultHours);
        return TypedResults.Ok(new PlaylistLink(signed.Make(http.Request, PlaylistPath.Of(names), until), until));
    }

    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> SavePositionAsync(
        string id, PositionSaved saved, LibraryTree tree, PositionStore positions, CancellationToken cancellationToken)
    {
        if (saved.PositionMs is < 0 or > PositionSaved.MaxMs)
            return AdminProblem.BadInput("positionMs", $"Must be 0 to {PositionSaved.MaxMs}.");
        if (saved.DurationMs is < 1 or > PositionSaved.MaxMs)
            return AdminProblem.BadInput("durationMs", $"Must be 1 to {PositionSaved.MaxMs}.");
        if (await FindAsync(id, tree, cancellationToken) is not { } file)
            return NotFound();
        await positions.SaveAsync(file.Id, new WatchPosition(saved.PositionMs, saved.DurationMs), cancellationToken);
        return TypedResults.NoContent();
    }

    private static async Task<IResult> DownloadAsync(string id, LibraryTree tree, StoredNzbReader nzbs, CancellationToken cancellationToken)
    {
        if (await FindAsync(id, tree, cancellationToken) is not { Release: { Id: not 0 } release })
            return NotFound();
        try
        {
            return TypedResults.Stream(nzbs.Open(release.NzbHash), "application/x-nzb", $"{release.Name}.nzb");
        }
        catch (StoredNzbLostException)
        {
            return AdminProblem.NotFound("The NZB of this file is lost.");
        }
    }

    internal static async Task<LibraryFile?> FindAsync(string id, LibraryTree tree, CancellationToken cancellationToken) =>
        Guid.TryParseExact(id, "D", out var guid) ? (await tree.FindByIdAsync(guid, cancellationToken))?.File : null;

    internal static JsonHttpResult<Problem> NotFound() => AdminProblem.NotFound("There is no such file.");

    /// <summary>The depth of a folder determines whether it is a category, a release, or a folder in a release.</summary>
    private static FileRow Row(ListedEntry entry)
    {
        var kind = entry.FileId is not null ? FileEntryKind.File
            : entry.Path.Count('/') switch { 0 => FileEntryKind.Category, 1 => FileEntryKind.Release, _ => FileEntryKind.Folder };
        var title = kind switch
        {
            FileEntryKind.Release => entry.Facts?.Title,
            FileEntryKind.File => entry.Facts?.TitleOf(entry.Name),
            _ => null,
        };
        return new FileRow(
            kind,
            entry.Name,
            entry.Path,
            entry.FileId is { } id ? IdPath.NameOf(id) : null,
            entry.Bytes,
            entry.LastModified,
            kind == FileEntryKind.File ? MediaOf(entry.Name) : null,
            entry.Count,
            FilmTitle.Of(title),
            entry.FilmId is { } film ? IdPath.NameOf(film) : null,
            entry.Facts?.MissingShare,
            FilmMedia.Of(entry.Media),
            entry.Position?.Share);
    }

    private static FileMedia MediaOf(string name)
    {
        var kind = MediaSignature.KindOf(Path.GetExtension(name).TrimStart('.'));
        return MediaSignature.CategoryOf(kind) switch
        {
            MediaCategory.Video => FileMedia.Video,
            MediaCategory.Audio => FileMedia.Audio,
            _ => kind switch
            {
                MediaKind.SubRip or MediaKind.SubStation or MediaKind.WebVtt => FileMedia.Subtitle,
                MediaKind.Jpeg or MediaKind.Png or MediaKind.Gif or MediaKind.WebP => FileMedia.Image,
                _ => FileMedia.Other,
            },
        };
    }

    private static FileTrack Shape(MediaTrack track) => new(
        track.Kind, track.Codec, track.Type, track.Language, track.Title, track.Channels, track.Width, track.Height, track.IsDefault,
        track.IsForced);

    private static string? ContainerOf(MediaKind kind) => kind switch
    {
        MediaKind.Unknown => null,
        MediaKind.Mp4 or MediaKind.Mp4Audio => "MP4",
        MediaKind.Avi => "AVI",
        MediaKind.TransportStream => "MPEG-TS",
        MediaKind.ProgramStream => "MPEG-PS",
        MediaKind.Asf => "Windows Media",
        MediaKind.FlashVideo => "Flash Video",
        MediaKind.Mp3 => "MP3",
        MediaKind.Flac => "FLAC",
        MediaKind.Wave => "WAV",
        _ => kind.ToString(),
    };

    internal static string SentenceOf(ReadFailure? failure) => failure switch
    {
        ReadFailure.Gone => "The beginning of this file is gone at every provider.",
        ReadFailure.Refused => "The import of this release fails; its history item says why.",
        ReadFailure.Busy => "More is being read at once than there is memory for.",
        ReadFailure.Damaged => "The beginning of this file came damaged a moment ago. Try again in a few seconds.",
        ReadFailure.Unsettled => "Sluice is still finding out where the bytes of this file are. Try again in a few seconds.",
        ReadFailure.Unreachable => "No provider could be asked for the beginning of this file.",
        _ => "What is stored about this file cannot be read at present.",
    };
}
