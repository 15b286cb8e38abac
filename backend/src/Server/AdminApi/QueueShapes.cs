using System.Text.Json.Serialization;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>The steps of an import (IMP-25), in order.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<JobStepName>))]
internal enum JobStepName
{
    Read,
    Heads,
    Names,
    Archives,
    Availability,
    Publish,
}

[JsonConverter(typeof(KebabCaseEnumConverter<JobStepState>))]
internal enum JobStepState
{
    Pending,
    Running,
    Done,
    Failed,
}

/// <summary>A step of an import. <c>Ms</c> is null until the step begins. <c>Detail</c> states its findings, as in "3 files, 5 heads".</summary>
internal sealed record JobStep(JobStepName Step, JobStepState State, long? Ms, string Detail);

/// <summary>
/// A queue item; it keeps its id in the history. <c>Sentence</c> says why it waits. <c>Position</c> is its 0-based position when the row was read, because rows
/// behind a moved item get no event. Size, files and segments are 0 or null until the NZB is fetched.
/// </summary>
internal sealed record QueueRow(
    string Id, string Name, string Category, QueuePriority Priority, ItemState State, string? Sentence, int Position, int Percent, long Bytes,
    int? Files, int? Segments, DateTimeOffset? PostedAt, DateTimeOffset AddedAt, bool HasPassword, IReadOnlyList<JobStep> Steps);

/// <summary>A page of the queue, which reflects all events up to <c>Seq</c>. <c>PausedUntil</c> is null unless the pause ends by itself.</summary>
internal sealed record QueuePage(
    IReadOnlyList<QueueRow> Items, string? Next, long Total, long Seq, bool Paused, DateTimeOffset? PausedUntil, IReadOnlyList<string> Categories);

/// <summary>An NZB to fetch from an address.</summary>
internal sealed record QueueAddress(string Url, string? Name = null, string? Category = null, string? Password = null, QueuePriority? Priority = null) : IJsonBody<QueueAddress>;

/// <summary>The form of an upload.</summary>
internal sealed record QueueUpload(IFormFile File, string? Category = null, string? Name = null, string? Password = null, QueuePriority? Priority = null);

/// <summary>Accepted items, in upload order. <c>Failures</c> contains a sentence for each item that failed immediately, otherwise an empty string.</summary>
internal sealed record QueueAdded(IReadOnlyList<string> Ids, IReadOnlyList<string> Names, IReadOnlyList<string> Failures);

/// <summary>
/// Changes an item; null leaves a property unchanged. An empty password removes the password. <c>Position</c> is 0-based and limited to the last position;
/// <c>Step</c> moves the item relative to its position, negative towards the front.
/// </summary>
internal sealed record QueueChange(
    string? Name = null, string? Category = null, QueuePriority? Priority = null, string? Password = null, int? Position = null, int? Step = null, bool? Paused = null) : IJsonBody<QueueChange>;

/// <summary>Pauses the whole queue. If no minutes are given, the pause lasts until the queue is resumed.</summary>
internal sealed record QueuePauseRequest(int? Minutes = null) : IJsonBody<QueuePauseRequest>;

internal sealed record QueueState(bool Paused, DateTimeOffset? PausedUntil);

/// <summary>A filter with the same parameters as the list.</summary>
internal sealed record QueueSelection(string? Q = null, string? Category = null, ItemState? State = null);

/// <summary>Items by ids or by a filter, never both (ADM-5).</summary>
internal sealed record QueueItems(IReadOnlyList<string>? Ids = null, QueueSelection? Filter = null) : IJsonBody<QueueItems>;

/// <summary>The same change for several items (ADM-5).</summary>
internal sealed record QueueBulkChange(
    IReadOnlyList<string>? Ids = null, QueueSelection? Filter = null, string? Category = null, QueuePriority? Priority = null, bool? Paused = null) : IJsonBody<QueueBulkChange>;

internal sealed record BulkCount(int Count);

/// <summary>Removed items. <c>Undo</c> restores them until <c>Until</c>; null if nothing was removed.</summary>
internal sealed record Removed(int Count, string? Undo, DateTimeOffset? Until);
