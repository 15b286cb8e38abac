using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Severity of a line of the log; <see cref="LogLevel"/> without <c>None</c>.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<LogLineLevel>))]
internal enum LogLineLevel
{
    Trace,
    Debug,
    Information,
    Warning,
    Error,
    Critical,
}

/// <summary>A line of the log without secrets. <c>Job</c> is its queue or history item, <c>Stream</c> its playback; null if none.</summary>
internal sealed record LogLine(long Seq, DateTimeOffset At, LogLineLevel Level, string Source, string Text, string? Job, string? Stream);

/// <summary>
/// A page of the log, the newest first. <c>Next</c> is null at the oldest kept line. <c>LevelUntil</c> is set while the level is raised temporarily.
/// </summary>
internal sealed record LogPage(
    IReadOnlyList<LogLine> Items, string? Next, long Total, long Seq, IReadOnlyList<string> Sources, LogLineLevel Level, DateTimeOffset? LevelUntil);

/// <summary>Sets a level for a quarter of an hour; null returns to the setting at once.</summary>
internal sealed record LogLevelChange(LogLineLevel? Level) : IJsonBody<LogLevelChange>;

internal sealed record LogLevelState(LogLineLevel Level, DateTimeOffset? Until);
