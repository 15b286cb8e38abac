using System.Text.Json.Serialization;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

/// <summary>Kinds of need on the front page.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<HomeNeedKind>))]
internal enum HomeNeedKind
{
    /// <summary>Imports that failed for one reason.</summary>
    ImportFailed,

    /// <summary>Films that play with gaps.</summary>
    Gaps,
}

/// <summary>What a file is, by its header; values that it does not tell are null.</summary>
internal sealed record FilmMedia(long? DurationMs, int? Width, int? Height, string? Video, string? Audio)
{
    public static FilmMedia? Of(Library.MediaFacts? facts) => facts is null ? null : new(facts.Duration, facts.Width, facts.Height, facts.Video, facts.Audio);
}

/// <summary>
/// Something that a user has to look at. <c>Name</c> is that of the newest of <c>Count</c> releases, <c>Path</c> its folder below <c>/content</c>, and
/// <c>At</c> its time, which also tells <c>POST seen</c> how much of the need was seen. <c>Reason</c> is null for gaps, and <c>MissingShare</c> for
/// failed imports. A count of 999 means at least so many.
/// </summary>
internal sealed record HomeNeed(
    HomeNeedKind Kind, string Id, FailureReason? Reason, int Count, string Name, FilmTitle? Film, string? Path, double? MissingShare, DateTimeOffset At);

/// <summary>How many failed imports the front page shows as needs; a reason counts 999 at most.</summary>
internal sealed record FailedCount(int Count);

/// <summary>
/// A release that was added lately. <c>FilmId</c> is its film; null if it has none or several. <c>WatchedShare</c> is as in the list of files.
/// <c>Picture</c> is at <c>/api/pictures</c>; null for a drawn card.
/// </summary>
internal sealed record HomeFilm(
    string Path, FilmTitle? Film, string? FilmId, FilmMedia? Media, long Bytes, DateTimeOffset AddedAt, double? MissingShare, double? WatchedShare, string? Picture);

/// <summary>The picture of a film that is playing.</summary>
internal sealed record HomePicture(string FileId, string Picture);

/// <summary>The queue in one line: <c>Name</c> and <c>Percent</c> are those of the import that is nearest to its end; null if none runs.</summary>
internal sealed record HomeQueue(int Count, int Running, bool Paused, DateTimeOffset? PausedUntil, string? Name, int? Percent);

/// <summary>Rates of the last ten minutes in kB/s, one for each <c>Step</c> of 10 s, the oldest first and ending now.</summary>
internal sealed record HomeStrip(int Step, IReadOnlyList<long> FromProviders, IReadOnlyList<long> ToPlayers);

/// <summary>
/// The front page: what needs the user, the most urgent first; problems of the server, without lines of the log; at most six playbacks; the twelve newest
/// releases; pictures for both, at most 12 with 240 KB together. It includes all events up to <c>Seq</c>.
/// </summary>
internal sealed record Home(
    IReadOnlyList<HomeNeed> Needs, IReadOnlyList<AttentionRow> Problems, IReadOnlyList<StreamRow> Playing, int PlayingCount, IReadOnlyList<HomePicture> Pictures,
    IReadOnlyList<HomeFilm> Recent, HomeQueue Queue, HomeStrip Strip, FirstSteps Steps, long Seq);

/// <summary>Marks a need as seen up to the time that it was shown with.</summary>
internal sealed record HomeSeen(string Id, DateTimeOffset At) : IJsonBody<HomeSeen>;
