using System.Text.Json.Serialization;
using Sluice.Server.History;

namespace Sluice.Server.AdminApi;

/// <summary>How an import has ended.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<JobResult>))]
internal enum JobResult
{
    /// <summary>There is a release.</summary>
    Completed,

    /// <summary>There is a reason.</summary>
    Failed,
}

/// <summary>An import that has ended.</summary>
/// <param name="Id">The id that it had in the queue.</param>
/// <param name="Name">Its name.</param>
/// <param name="Category">Its category.</param>
/// <param name="Result">How it ended.</param>
/// <param name="Reason">Why it failed; null where it did not.</param>
/// <param name="Sentence">The reason as a sentence; null likewise.</param>
/// <param name="Bytes">Published bytes, or the encoded size of a failed item.</param>
/// <param name="CompletedAt">When it ended.</param>
/// <param name="DurationMs">From the begin of the work to its end.</param>
/// <param name="Path">The folder of the release below <c>/content</c>; null where there is none, or where it was removed.</param>
/// <param name="CanRetry">Whether it can be tried again.</param>
internal sealed record HistoryRow(
    string Id, string Name, string Category, JobResult Result, FailureReason? Reason, string? Sentence, long Bytes, DateTimeOffset CompletedAt,
    long DurationMs, string? Path, bool CanRetry);

/// <summary>A page of the history.</summary>
/// <param name="Items">Its rows.</param>
/// <param name="Next">Cursor of the next page; null behind the last.</param>
/// <param name="Total">Items that match.</param>
/// <param name="Seq">Events up to this number are in it.</param>
internal sealed record HistoryPage(IReadOnlyList<HistoryRow> Items, string? Next, long Total, long Seq);

/// <summary>A file that a release has brought.</summary>
/// <param name="Id">Its id, for a link to it.</param>
/// <param name="Path">Its place inside the release.</param>
/// <param name="Bytes">Its length.</param>
internal sealed record HistoryFile(string Id, string Path, long Bytes);

/// <summary>An import that has ended, with all that is known of it.</summary>
/// <param name="Item">Its row.</param>
/// <param name="AddedAt">When it was accepted.</param>
/// <param name="StartedAt">When the work on it began.</param>
/// <param name="Steps">Its steps with their times.</param>
/// <param name="Files">The first hundred of its files; none where there is no release.</param>
/// <param name="FileCount">All of its files.</param>
/// <param name="HasNzb">Whether its NZB can be downloaded.</param>
internal sealed record HistoryDetail(
    HistoryRow Item, DateTimeOffset AddedAt, DateTimeOffset StartedAt, IReadOnlyList<JobStep> Steps, IReadOnlyList<HistoryFile> Files, int FileCount, bool HasNzb);

/// <summary>Another try.</summary>
/// <param name="Password">A password to try first; null for those that are known.</param>
/// <param name="OtherProviders">Whether every provider is asked again, also for what it is remembered not to have.</param>
/// <param name="IgnoreHealth">Whether it is published however much of it is missing, as far as its files can be found out.</param>
internal sealed record HistoryRetry(string? Password = null, bool? OtherProviders = null, bool? IgnoreHealth = null) : IJsonBody<HistoryRetry>;

/// <summary>Items that a list shows; the same words as the list's own.</summary>
internal sealed record HistorySelection(string? Q = null, string? Category = null, JobResult? Result = null, FailureReason? Reason = null);

/// <summary>Items by their ids, or all that match (ADM-5). One of the two.</summary>
internal sealed record HistoryItems(IReadOnlyList<string>? Ids = null, HistorySelection? Filter = null) : IJsonBody<HistoryItems>;

/// <summary>How the history stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(HistoryPage))]
[JsonSerializable(typeof(HistoryDetail))]
[JsonSerializable(typeof(HistoryRetry))]
[JsonSerializable(typeof(HistoryItems))]
internal sealed partial class HistoryJson : JsonSerializerContext;
