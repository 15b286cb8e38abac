using System.Text.Json.Serialization;
using Sluice.Server.Queue;

namespace Sluice.Server.AdminApi;

/// <summary>The steps of an import (IMP-25), in their order.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<JobStepName>))]
internal enum JobStepName
{
    /// <summary>The NZB is read.</summary>
    Read,

    /// <summary>First and last articles are fetched.</summary>
    Heads,

    /// <summary>Names are chosen.</summary>
    Names,

    /// <summary>Archives are mapped.</summary>
    Archives,

    /// <summary>A sample of articles is asked for.</summary>
    Availability,

    /// <summary>The release appears in the tree.</summary>
    Publish,
}

/// <summary>What has become of a step.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<JobStepState>))]
internal enum JobStepState
{
    /// <summary>It has not begun.</summary>
    Pending,

    /// <summary>It is under way.</summary>
    Running,

    /// <summary>It is done.</summary>
    Done,

    /// <summary>It has failed.</summary>
    Failed,
}

/// <summary>A step of an import.</summary>
/// <param name="Step">Which.</param>
/// <param name="State">What has become of it.</param>
/// <param name="Ms">How long it took, or has taken so far; null before it begins.</param>
/// <param name="Detail">What it found, in words, as in "3 files, 5 heads"; may be empty.</param>
internal sealed record JobStep(JobStepName Step, JobStepState State, long? Ms, string Detail);

/// <summary>An item of the queue.</summary>
/// <param name="Id">Its id, which it keeps in the history.</param>
/// <param name="Name">Its name.</param>
/// <param name="Category">Its category.</param>
/// <param name="Priority">Its band of the order.</param>
/// <param name="State">What becomes of it.</param>
/// <param name="Sentence">Why it waits, as a sentence; null where it does not.</param>
/// <param name="Position">Its place in the whole queue, 0-based, when it was read. Rows behind one that comes, goes or is moved get no event.</param>
/// <param name="Percent">0 to 100 over the whole import.</param>
/// <param name="Bytes">Encoded size of the post; 0 until its NZB has been fetched.</param>
/// <param name="Files">Files of the post; null until its NZB has been fetched.</param>
/// <param name="Segments">Segments of the post; null until its NZB has been fetched.</param>
/// <param name="PostedAt">Date of its newest file; null if it has none.</param>
/// <param name="AddedAt">When it was accepted.</param>
/// <param name="HasPassword">Whether a password came with it.</param>
/// <param name="Steps">All steps, in their order.</param>
internal sealed record QueueRow(
    string Id, string Name, string Category, QueuePriority Priority, ItemState State, string? Sentence, int Position, int Percent, long Bytes,
    int? Files, int? Segments, DateTimeOffset? PostedAt, DateTimeOffset AddedAt, bool HasPassword, IReadOnlyList<JobStep> Steps);

/// <summary>A page of the queue.</summary>
/// <param name="Items">Its rows.</param>
/// <param name="Next">Cursor of the next page; null behind the last.</param>
/// <param name="Total">Items that match.</param>
/// <param name="Seq">Events up to this number are in it.</param>
/// <param name="Paused">Whether the queue is paused.</param>
/// <param name="PausedUntil">When it goes on by itself; null for never, or while it is not paused.</param>
/// <param name="Categories">The categories that an item may have.</param>
internal sealed record QueuePage(
    IReadOnlyList<QueueRow> Items, string? Next, long Total, long Seq, bool Paused, DateTimeOffset? PausedUntil, IReadOnlyList<string> Categories);

/// <summary>An NZB that is to be fetched from an address.</summary>
internal sealed record QueueAddress(string Url, string? Name = null, string? Category = null, string? Password = null, QueuePriority? Priority = null) : IJsonBody<QueueAddress>;

/// <summary>The form of an upload.</summary>
internal sealed record QueueUpload(IFormFile File, string? Category = null, string? Name = null, string? Password = null, QueuePriority? Priority = null);

/// <summary>Items that were accepted.</summary>
/// <param name="Ids">Their ids, in the order of the upload.</param>
/// <param name="Names">Their names, likewise.</param>
/// <param name="Failures">For each the sentence with which it has failed already, as what is no NZB does; empty for the others.</param>
internal sealed record QueueAdded(IReadOnlyList<string> Ids, IReadOnlyList<string> Names, IReadOnlyList<string> Failures);

/// <summary>What is to be changed of an item; null leaves it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Category">Its category.</param>
/// <param name="Priority">Its band.</param>
/// <param name="Password">Its password; empty takes it away.</param>
/// <param name="Position">Its place in the whole queue, 0-based; beyond the last is the last.</param>
/// <param name="Step">How many places it moves from where it is then; negative towards the front. Instead of a position.</param>
/// <param name="Paused">Whether it waits.</param>
internal sealed record QueueChange(
    string? Name = null, string? Category = null, QueuePriority? Priority = null, string? Password = null, int? Position = null, int? Step = null, bool? Paused = null) : IJsonBody<QueueChange>;

/// <summary>A pause of the whole queue.</summary>
/// <param name="Minutes">How long; null until it is resumed.</param>
internal sealed record QueuePauseRequest(int? Minutes = null) : IJsonBody<QueuePauseRequest>;

/// <summary>Whether the queue is paused.</summary>
internal sealed record QueueState(bool Paused, DateTimeOffset? PausedUntil);

/// <summary>Items that a list shows; the same words as the list's own.</summary>
internal sealed record QueueSelection(string? Q = null, string? Category = null, ItemState? State = null);

/// <summary>Items by their ids, or all that match (ADM-5). One of the two.</summary>
internal sealed record QueueItems(IReadOnlyList<string>? Ids = null, QueueSelection? Filter = null) : IJsonBody<QueueItems>;

/// <summary>One change for several items (ADM-5).</summary>
internal sealed record QueueBulkChange(
    IReadOnlyList<string>? Ids = null, QueueSelection? Filter = null, string? Category = null, QueuePriority? Priority = null, bool? Paused = null) : IJsonBody<QueueBulkChange>;

/// <summary>How many items were changed.</summary>
internal sealed record BulkCount(int Count);

/// <summary>Items that were taken away.</summary>
/// <param name="Count">How many.</param>
/// <param name="Undo">What takes it back; null where nothing was taken away.</param>
/// <param name="Until">Until when.</param>
internal sealed record Removed(int Count, string? Undo, DateTimeOffset? Until);

/// <summary>How the queue stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(QueuePage))]
[JsonSerializable(typeof(QueueAddress))]
[JsonSerializable(typeof(QueueAdded))]
[JsonSerializable(typeof(QueueChange))]
[JsonSerializable(typeof(QueuePauseRequest))]
[JsonSerializable(typeof(QueueState))]
[JsonSerializable(typeof(QueueItems))]
[JsonSerializable(typeof(QueueBulkChange))]
[JsonSerializable(typeof(BulkCount))]
[JsonSerializable(typeof(Removed))]
internal sealed partial class QueueJson : JsonSerializerContext;
