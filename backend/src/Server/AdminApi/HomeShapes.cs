using System.Text.Json.Serialization;
using Sluice.Server.Diagnostics;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

/// <summary>Kinds of needs on the front page.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<HomeNeedKind>))]
internal enum HomeNeedKind
{
    /// <summary>Imports that failed for one reason.</summary>
    ImportFailed,

    /// <summary>Films that play with gaps.</summary>
    Gaps,
}

/// <summary>Media facts from the header of a file; values absent from it are null.</summary>
internal sealed record FilmMedia(long? DurationMs, int? Width, int? Height, string? Video, string? Audio)
{
    public static FilmMedia? Of(Library.MediaFacts? facts) => facts is null ? null : new(facts.Duration, facts.Width, facts.Height, facts.Video, facts.Audio);
}

/// <summary>
/// An issue that needs the user. <c>Name</c> is the newest of <c>Count</c> releases, <c>Path</c> its folder below <c>/content</c>, and
/// <c>At</c> its time, which also tells <c>POST seen</c> how much of it was seen. <c>Reason</c> is null for gaps, and <c>MissingShare</c> for
/// failed imports. A count of 999 means 999 or more.
/// </summary>
internal sealed record HomeNeed(
    HomeNeedKind Kind, string Id, FailureReason? Reason, int Count, string Name, FilmTitle? Film, string? Path, double? MissingShare, DateTimeOffset At);

/// <summary>Number of failed imports among the needs of the front page; at most 999 per reason.</summary>
internal sealed record FailedCount(int Count);

/// <summary>
/// A recently added release. <c>FilmId</c> is its film; null if it has none or several. <c>WatchedShare</c> is as in the list of files.
/// <c>Picture</c> is at <c>/api/pictures</c>; null for a drawn card.
/// </summary>
internal sealed record HomeFilm(
    string Path, FilmTitle? Film, string? FilmId, FilmMedia? Media, long Bytes, DateTimeOffset AddedAt, double? MissingShare, double? WatchedShare, string? Picture);

/// <summary>The picture of a film that is playing.</summary>
internal sealed record HomePicture(string FileId, string Picture);

/// <summary>The queue in one line: <c>Name</c> and <c>Percent</c> describe the import that is closest to completion; null if none runs.</summary>
internal sealed record HomeQueue(int Count, int Running, bool Paused, DateTimeOffset? PausedUntil, string? Name, int? Percent);

/// <summary>Rates of the last ten minutes in kB/s, one for each <c>Step</c> of 10 s, the oldest first and ending now.</summary>
internal sealed record HomeStrip(int Step, IReadOnlyList<long> FromProviders, IReadOnlyList<long> ToPlayers);

/// <summary>
/// The front page: needs, the most urgent first; server problems, without log lines; at most six playbacks; the twelve newest
/// releases; pictures for both, at most 12 with 240 KB together. It includes all events up to <c>Seq</c>.
/// </summary>
internal sealed record Home(
    IReadOnlyList<HomeNeed> Needs, IReadOnlyList<AttentionRow> Problems, IReadOnlyList<StreamRow> Playing, int PlayingCount, IReadOnlyList<HomePicture> Pictures,
    IReadOnlyList<HomeFilm> Recent, HomeQueue Queue, HomeStrip Strip, FirstSteps Steps, long Seq);

/// <summary>Marks a need as seen up to the time with which it was shown.</summary>
internal sealed record HomeSeen(string Id, DateTimeOffset At) : IJsonBody<HomeSeen>;
