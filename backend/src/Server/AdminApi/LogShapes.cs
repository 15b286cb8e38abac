using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Severity of a log line: <see cref="LogLevel"/> without <c>None</c>.</summary>
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

/// <summary>A log line without secrets. <c>Job</c> is its queue or history item, <c>Stream</c> its playback; null if none.</summary>
internal sealed record LogLine(long Seq, DateTimeOffset At, LogLineLevel Level, string Source, string Text, string? Job, string? Stream);

/// <summary>
/// A page of the log, newest first. <c>Next</c> is null on the last page. <c>LevelUntil</c> is set while the log level is raised temporarily.
/// </summary>
internal sealed record LogPage(
    IReadOnlyList<LogLine> Items, string? Next, long Total, long Seq, IReadOnlyList<string> Sources, LogLineLevel Level, DateTimeOffset? LevelUntil);

/// <summary>Sets a level for a quarter of an hour. Null returns to the configured level immediately.</summary>
internal sealed record LogLevelChange(LogLineLevel? Level) : IJsonBody<LogLevelChange>;

internal sealed record LogLevelState(LogLineLevel Level, DateTimeOffset? Until);
