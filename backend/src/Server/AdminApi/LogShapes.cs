using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>How much a line of the log matters.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<LogLineLevel>))]
internal enum LogLineLevel
{
    /// <summary>Every step.</summary>
    Trace,

    /// <summary>For those who look for a fault.</summary>
    Debug,

    /// <summary>What an operator would want to know.</summary>
    Information,

    /// <summary>What may become worse.</summary>
    Warning,

    /// <summary>What went wrong.</summary>
    Error,

    /// <summary>What ends the process.</summary>
    Critical,
}

/// <summary>A line of the log.</summary>
/// <param name="Seq">Its number since the start.</param>
/// <param name="At">When.</param>
/// <param name="Level">How much it matters.</param>
/// <param name="Source">The part of the server, as in <c>Queue</c>.</param>
/// <param name="Text">What happened, free of secrets.</param>
/// <param name="Job">The item of the queue or history that it is about; null for none.</param>
/// <param name="Stream">The playback that it is about; null for none.</param>
internal sealed record LogLine(long Seq, DateTimeOffset At, LogLineLevel Level, string Source, string Text, string? Job, string? Stream);

/// <summary>A page of the log, the newest first.</summary>
/// <param name="Items">Its lines.</param>
/// <param name="Next">Cursor of the page before; null at the oldest line that is kept.</param>
/// <param name="Total">Lines that match.</param>
/// <param name="Seq">Events up to this number are in it.</param>
/// <param name="Sources">The parts of the server that have lines.</param>
/// <param name="Level">The level in force.</param>
/// <param name="LevelUntil">Until when, where it was raised for a while; else null.</param>
internal sealed record LogPage(
    IReadOnlyList<LogLine> Items, string? Next, long Total, long Seq, IReadOnlyList<string> Sources, LogLineLevel Level, DateTimeOffset? LevelUntil);

/// <summary>A level for a quarter of an hour.</summary>
/// <param name="Level">The level; null to go back to the setting at once.</param>
internal sealed record LogLevelChange(LogLineLevel? Level) : IJsonBody<LogLevelChange>;

/// <summary>The level in force.</summary>
internal sealed record LogLevelState(LogLineLevel Level, DateTimeOffset? Until);

/// <summary>How the log stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(LogPage))]
[JsonSerializable(typeof(LogLevelChange))]
[JsonSerializable(typeof(LogLevelState))]
internal sealed partial class LogsJson : JsonSerializerContext;
