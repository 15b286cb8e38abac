using System.Text.Json.Serialization;
using Sluice.Server.Library;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Media.Tracks;

namespace Sluice.Server.AdminApi;

/// <summary>Kinds of entries in the tree.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FileEntryKind>))]
internal enum FileEntryKind
{
    Category,
    Release,
    Folder,
    File,
}

/// <summary>Kinds of files, as shown to users.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FileMedia>))]
internal enum FileMedia
{
    Video,
    Audio,
    Subtitle,
    Image,
    Other,
}

/// <summary>
/// Facts parsed from the name of a release or file. <c>Season</c> is a number or a range such as "1-5". <c>Episodes</c> is a number, a range, or the date of a
/// daily show. Both are null for a film. <c>Quality</c> is resolution and source, as in "1080p WEB-DL".
/// </summary>
internal sealed record FilmTitle(string Title, int? Year, string? Season, string? Episodes, string? Quality)
{
    public static FilmTitle? Of(ReleaseTitle? title) => title is null ? null : new(title.Title, title.Year, title.Season, title.Episodes, title.Quality);
}

/// <summary>
/// An entry of the tree, with its path below <c>/content</c>. Only files have an id and a media kind. <c>Bytes</c> is null for a folder of unknown size.
/// <c>Count</c> is the number of files below a folder, or of releases in a category. <c>Film</c> is null if the name could not be parsed. <c>FilmId</c> is the
/// single film of a release; null if it has no film or several. <c>MissingShare</c> is the fraction of the release known to be missing, from 0 to 1; null if
/// none is. <c>Details</c> describes the file or the release's single film; null until the header is read. <c>WatchedShare</c> is the fraction watched, from 0
/// to 1; null if there is nothing to resume.
/// </summary>
internal sealed record FileRow(
    FileEntryKind Kind, string Name, string Path, string? Id, long? Bytes, DateTimeOffset ModifiedAt, FileMedia? Media, long? Count, FilmTitle? Film,
    string? FilmId, double? MissingShare, FilmMedia? Details, double? WatchedShare);

/// <summary>
/// A page of a folder, or of a search below <c>Path</c>. <c>Next</c> is null on the last page. The page reflects all events up to <c>Seq</c>.
/// </summary>
internal sealed record FilePage(string Path, IReadOnlyList<FileRow> Items, string? Next, long Total, long Seq);

/// <summary>
/// Links to a file: one in the tree for players that log in, and a signed one that works without a password until <c>SignedUntil</c>. <c>ArrPath</c> is the
/// path that Sonarr and similar programs use. It is null if no mount is set, if no history item has links or <c>.strm</c> files, and for the built-in clip.
/// </summary>
internal sealed record FileLinks(string WebDav, string Signed, DateTimeOffset SignedUntil, string? ArrPath);

/// <summary>
/// Everything about a file. <c>PostedName</c> is null if it equals the name. <c>Volumes</c> counts the posted files that hold its bytes. <c>PositionMs</c> is
/// where to resume; null at the beginning. <c>Next</c> is the following episode; null if there is none. <c>WantsStill</c> asks a player for a picture of the
/// film (<c>PUT still</c>), because none is stored yet.
/// </summary>
internal sealed record FileDetail(
    FileRow Item, string Release, string Category, string? PostedName, bool Encrypted, int Volumes, FileLinks Links, bool HasNzb, long? PositionMs,
    FollowingEpisode? Next, bool WantsStill);

/// <summary>A playlist link that works without a password until <c>SignedUntil</c>.</summary>
internal sealed record PlaylistLink(string Signed, DateTimeOffset SignedUntil);

/// <summary>The episode after another one, with its path below <c>/content</c>.</summary>
internal sealed record FollowingEpisode(string Id, string Path, FilmTitle? Film)
{
    public static FollowingEpisode? Of(NextEpisode? next) => next is null ? null : new(IdPath.NameOf(next.Id), next.Path, FilmTitle.Of(next.Title));
}

/// <summary>A viewer's position in a file. <c>DurationMs</c> is the file's duration; null if the player does not know it.</summary>
internal sealed record PositionSaved(long PositionMs, long? DurationMs = null) : IJsonBody<PositionSaved>
{
    /// <summary>Maximum duration of a file: a week, far longer than any film.</summary>
    public const long MaxMs = 7L * 24 * 60 * 60 * 1_000;
}

/// <summary>Whether the tracks of a file could be read.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<TracksState>))]
internal enum TracksState
{
    Known,

    /// <summary>Sluice cannot read the tracks of this kind of file.</summary>
    Unknown,

    /// <summary>The file cannot be read right now.</summary>
    Unreadable,
}

/// <summary>
/// A track. <c>Codec</c> is a display name, as in "HEVC 10-bit". <c>Type</c> is an argument for <c>canPlayType</c>, as in <c>video/mp4;
/// codecs="avc1.640028"</c>. Values that the file does not state are null.
/// </summary>
internal sealed record FileTrack(
    TrackKind Kind, string Codec, string? Type, string? Language, string? Title, int? Channels, int? Width, int? Height, bool Default, bool Forced);

/// <summary>The tracks of a file in file order, read from its header. <c>Sentence</c> says why they could not be read.</summary>
internal sealed record FileTracks(TracksState State, string? Container, long? DurationMs, IReadOnlyList<FileTrack> Items, string? Sentence);
