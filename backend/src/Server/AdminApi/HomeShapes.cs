using System.Text.Json.Serialization;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

/// <summary>Kinds of issues on the front page that need the user.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<HomeNeedKind>))]
internal enum HomeNeedKind
{
    /// <summary>Imports that failed for the same reason.</summary>
    ImportFailed,

    /// <summary>Films that play with gaps.</summary>
    Gaps,
}

/// <summary>Media facts from a file's header; null if the header does not state them.</summary>
internal sealed record FilmMedia(long? DurationMs, int? Width, int? Height, string? Video, string? Audio)
{
    public static FilmMedia? Of(Library.MediaFacts? facts) => facts is null ? null : new(facts.Duration, facts.Width, facts.Height, facts.Video, facts.Audio);
}

/// <summary>
/// An issue that needs the user. <c>Name</c> is the newest of <c>Count</c> releases, <c>Path</c> is its folder below <c>/content</c>, and <c>At</c> is its
/// time. <c>POST seen</c> sends <c>At</c> to say how much the user has seen. <c>Reason</c> is null for gaps, <c>MissingShare</c> for failed imports. A count of
/// 999 means 999 or more.
/// </summary>
internal sealed record HomeNeed(
    HomeNeedKind Kind, string Id, FailureReason? Reason, int Count, string Name, FilmTitle? Film, string? Path, double? MissingShare, DateTimeOffset At);

/// <summary>Number of failed imports among the front page's issues; at most 999 per reason.</summary>
internal sealed record FailedCount(int Count);

/// <summary>
/// A recently added release. <c>FilmId</c> is its film; null if it has no film or several. <c>WatchedShare</c> is the same as in the file list. <c>Picture</c>
/// is below <c>/api/pictures</c>; null if the page draws a card.
/// </summary>
internal sealed record HomeFilm(
    string Path, FilmTitle? Film, string? FilmId, FilmMedia? Media, long Bytes, DateTimeOffset AddedAt, double? MissingShare, double? WatchedShare, string? Picture);

/// <summary>The picture of a film that is being played.</summary>
internal sealed record HomePicture(string FileId, string Picture);

/// <summary>The queue in one line. <c>Name</c> and <c>Percent</c> describe the running import closest to completion; null if none is running.</summary>
internal sealed record HomeQueue(int Count, int Running, bool Paused, DateTimeOffset? PausedUntil, string? Name, int? Percent);

/// <summary>Rates of the last ten minutes in kB/s, one per <c>Step</c> (10 s), oldest first and ending now.</summary>
internal sealed record HomeStrip(int Step, IReadOnlyList<long> FromProviders, IReadOnlyList<long> ToPlayers);

/// <summary>
/// The front page: issues, most urgent first; server problems, without log lines; at most six playbacks; the twelve newest releases; and pictures for both, at
/// most 12 and 240 KB in total. It reflects all events up to <c>Seq</c>.
/// </summary>
internal sealed record Home(
    IReadOnlyList<HomeNeed> Needs, IReadOnlyList<AttentionRow> Problems, IReadOnlyList<StreamRow> Playing, int PlayingCount, IReadOnlyList<HomePicture> Pictures,
    IReadOnlyList<HomeFilm> Recent, HomeQueue Queue, HomeStrip Strip, FirstSteps Steps, long Seq);

/// <summary>Marks an issue as seen, up to the time shown with it.</summary>
internal sealed record HomeSeen(string Id, DateTimeOffset At) : IJsonBody<HomeSeen>;
