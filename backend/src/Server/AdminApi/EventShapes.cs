using System.Text.Json.Serialization;
using Sluice.Server.Auth;
using Sluice.Server.Diagnostics;
using Sluice.Server.Providers;

namespace Sluice.Server.AdminApi;

/// <summary>Kinds of frames in the event stream (ADM-21).</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FrameKind>))]
internal enum FrameKind
{
    /// <summary>The whole state. The client discards its own state.</summary>
    Snapshot,

    /// <summary>Changes since the previous frame.</summary>
    Delta,
}

internal sealed record SetupFrame(FrameKind Kind, long Seq, SetupState State);

/// <summary>One second of the overview. Figures, attention and steps are null if they have not changed.</summary>
internal sealed record StatsFrame(
    FrameKind Kind, long Seq, StatSample Sample, StatFigures? Figures, IReadOnlyList<AttentionRow>? Attention, FirstSteps? Steps);

internal sealed record StreamsFrame(FrameKind Kind, long Seq, IReadOnlyList<StreamRow> Items, IReadOnlyList<ScanRow> Scans);

/// <summary>One playback; null once the server has dropped it.</summary>
internal sealed record StreamFrame(FrameKind Kind, long Seq, StreamDetail? Stream);

/// <summary>The most recently seen WebDAV clients of the last day, latest first, and the server's time.</summary>
internal sealed record ClientsFrame(FrameKind Kind, long Seq, DateTimeOffset At, IReadOnlyList<RecentClient> Items);

internal sealed record ProvidersFrame(FrameKind Kind, long Seq, IReadOnlyList<ProviderRow> Items);

/// <summary>Folders below <c>/content</c> whose entries changed; null if there are too many to list. A snapshot lists none.</summary>
internal sealed record FilesFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<string>? Paths);

/// <summary>New or changed rows, null if there are too many to list, and ids of removed rows. A snapshot contains neither.</summary>
internal sealed record QueueFrame(
    FrameKind Kind, long Seq, long Total, QueueState State, IReadOnlyList<QueueRow>? Changed, IReadOnlyList<string> Removed);

/// <summary>Rows as in <see cref="QueueFrame"/>.</summary>
internal sealed record HistoryFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<HistoryRow>? Changed, IReadOnlyList<string> Removed);

/// <summary>New lines, oldest first; null if there are too many. <c>Total</c> counts all lines in memory.</summary>
internal sealed record LogsFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<LogLine>? Lines);

/// <summary>Settings whose value changed. Empty in a snapshot.</summary>
internal sealed record ConfigFrame(FrameKind Kind, long Seq, IReadOnlyList<string> Keys);

/// <summary>Lists the frames of all topics so that the API description contains them. No response has this type.</summary>
internal sealed record EventPayloads(
    SetupFrame? Setup, StatsFrame? Stats, StreamsFrame? Streams, StreamFrame? Stream, ProvidersFrame? Providers, FilesFrame? Files, QueueFrame? Queue,
    HistoryFrame? History, LogsFrame? Logs, ConfigFrame? Config, BackupsFrame? Backups, ClientsFrame? Clients, ProviderTestStep? ProviderTestStep, ProviderTestOutcome? ProviderTestOutcome);
