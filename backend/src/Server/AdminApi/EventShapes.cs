using System.Text.Json.Serialization;
using Sluice.Server.History;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>What a frame of the event stream is (ADM-21).</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<FrameKind>))]
internal enum FrameKind
{
    /// <summary>All that is to be known; what was known before is void.</summary>
    Snapshot,

    /// <summary>What has changed since the frame before.</summary>
    Delta,
}

/// <summary>How far the setup is.</summary>
internal sealed record SetupFrame(FrameKind Kind, long Seq, SetupState State);

/// <summary>A second of the overview. <paramref name="Figures"/>, <paramref name="Attention"/> and <paramref name="Steps"/> are null where they have not changed.</summary>
internal sealed record StatsFrame(
    FrameKind Kind, long Seq, StatSample Sample, StatFigures? Figures, IReadOnlyList<AttentionRow>? Attention, FirstSteps? Steps);

/// <summary>All playbacks.</summary>
internal sealed record StreamsFrame(FrameKind Kind, long Seq, IReadOnlyList<StreamRow> Items, IReadOnlyList<ScanRow> Scans);

/// <summary>One playback; null once it is forgotten.</summary>
internal sealed record StreamFrame(FrameKind Kind, long Seq, StreamDetail? Stream);

/// <summary>All providers.</summary>
internal sealed record ProvidersFrame(FrameKind Kind, long Seq, IReadOnlyList<ProviderRow> Items);

/// <summary>Files have come or gone.</summary>
/// <param name="Kind">A snapshot has no paths.</param>
/// <param name="Seq">Its number.</param>
/// <param name="Total">Releases in the library.</param>
/// <param name="Paths">Folders whose entries are other ones, below <c>/content</c>; null where there are too many to name.</param>
internal sealed record FilesFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<string>? Paths);

/// <summary>Items of the queue have changed.</summary>
/// <param name="Kind">A snapshot has no rows.</param>
/// <param name="Seq">Its number.</param>
/// <param name="Total">Items of the queue.</param>
/// <param name="State">Whether the queue is paused.</param>
/// <param name="Changed">Rows that are new or other ones; null where there are too many to name.</param>
/// <param name="Removed">Ids that are gone.</param>
internal sealed record QueueFrame(
    FrameKind Kind, long Seq, long Total, QueueState State, IReadOnlyList<QueueRow>? Changed, IReadOnlyList<string> Removed);

/// <summary>Items of the history have changed.</summary>
/// <param name="Kind">A snapshot has no rows.</param>
/// <param name="Seq">Its number.</param>
/// <param name="Total">Items of the history.</param>
/// <param name="Changed">Rows that are new or other ones; null where there are too many to name.</param>
/// <param name="Removed">Ids that are gone.</param>
internal sealed record HistoryFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<HistoryRow>? Changed, IReadOnlyList<string> Removed);

/// <summary>Lines of the log.</summary>
/// <param name="Kind">A snapshot has no lines.</param>
/// <param name="Seq">Its number.</param>
/// <param name="Total">Lines that are kept.</param>
/// <param name="Lines">New lines, the oldest first; null where there are too many to name.</param>
internal sealed record LogsFrame(FrameKind Kind, long Seq, long Total, IReadOnlyList<LogLine>? Lines);

/// <summary>Settings have changed.</summary>
/// <param name="Kind">A snapshot has no keys.</param>
/// <param name="Seq">Its number.</param>
/// <param name="Keys">Settings whose value is another one.</param>
internal sealed record ConfigFrame(FrameKind Kind, long Seq, IReadOnlyList<string> Keys);

/// <summary>The frames of all topics, so that their shapes stand in the description of the API. No answer has this form.</summary>
internal sealed record EventPayloads(
    SetupFrame? Setup, StatsFrame? Stats, StreamsFrame? Streams, StreamFrame? Stream, ProvidersFrame? Providers, FilesFrame? Files, QueueFrame? Queue,
    HistoryFrame? History, LogsFrame? Logs, ConfigFrame? Config, ProviderTestStep? ProviderTestStep, ProviderTestOutcome? ProviderTestOutcome);

/// <summary>How frames stand in JSON, generated at build. <see cref="AdminJson"/> says the same words to those who read whole answers.</summary>
[JsonSourceGenerationOptions(
    System.Text.Json.JsonSerializerDefaults.Web,
    Converters = [typeof(KebabCaseEnumConverter<FailureReason>), typeof(KebabCaseEnumConverter<QueuePriority>), typeof(KebabCaseEnumConverter<ItemState>)])]
[JsonSerializable(typeof(EventPayloads))]
internal sealed partial class EventsJson : JsonSerializerContext;
