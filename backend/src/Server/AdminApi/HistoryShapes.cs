using System.Text.Json.Serialization;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

[JsonConverter(typeof(KebabCaseEnumConverter<JobResult>))]
internal enum JobResult
{
    Completed,
    Failed,
}

/// <summary>
/// A finished import. <c>Bytes</c> is the published size, or the encoded size if the import failed. <c>Path</c> is the folder below <c>/content</c>; null if
/// there is none or it was removed. <c>InNoLibrary</c>: a program deleted the item with its files without importing any. <c>Film</c> is null if the name cannot
/// be parsed. <c>MissingShare</c> is the fraction known to be missing, from 0 to 1, of an item that plays with gaps; otherwise null.
/// </summary>
internal sealed record HistoryRow(
    string Id, string Name, string Category, JobResult Result, FailureReason? Reason, string? Sentence, long Bytes, DateTimeOffset CompletedAt,
    long DurationMs, string? Path, bool CanRetry, bool InNoLibrary, FilmTitle? Film, double? MissingShare);

/// <summary>A page of the history, which reflects all events up to <c>Seq</c>.</summary>
internal sealed record HistoryPage(IReadOnlyList<HistoryRow> Items, string? Next, long Total, long Seq);

internal sealed record HistoryFile(string Id, string Path, long Bytes);

/// <summary>Everything about a finished import. <c>Files</c> lists the first hundred of <c>FileCount</c> files.</summary>
internal sealed record HistoryDetail(
    HistoryRow Item, DateTimeOffset AddedAt, DateTimeOffset StartedAt, IReadOnlyList<JobStep> Steps, IReadOnlyList<HistoryFile> Files, int FileCount, bool HasNzb);

/// <summary>
/// Retries an import. <c>OtherProviders</c> asks every provider again, ignoring remembered misses. <c>IgnoreHealth</c> publishes all files that can be mapped,
/// however much is missing.
/// </summary>
internal sealed record HistoryRetry(string? Password = null, bool? OtherProviders = null, bool? IgnoreHealth = null) : IJsonBody<HistoryRetry>;

/// <summary>A filter with the same parameters as the list.</summary>
internal sealed record HistorySelection(
    string? Q = null, string? Category = null, JobResult? Result = null, FailureReason? Reason = null, bool? InNoLibrary = null, bool? WithGaps = null);

/// <summary>Items by ids or by a filter, never both (ADM-5).</summary>
internal sealed record HistoryItems(IReadOnlyList<string>? Ids = null, HistorySelection? Filter = null) : IJsonBody<HistoryItems>;
