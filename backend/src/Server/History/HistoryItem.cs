using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;
using Dapper;
using Sluice.Server.Database;
using Sluice.Server.Events;
using Sluice.Server.Library;

namespace Sluice.Server.History;

/// <summary>A completed import, successful or failed.</summary>
internal sealed record HistoryItem : ImportItem
{
    [ExplicitConstructor]
    public HistoryItem()
    {
    }

    /// <summary>Creates the history item for the import of a queue item.</summary>
    [SetsRequiredMembers]
    public HistoryItem(ImportItem item)
        : base(item)
    {
    }

    /// <summary>Row number; 0 before the item is inserted.</summary>
    public long Number { get; init; }

    /// <summary>The queue item's priority, so that a retry can restore it.</summary>
    public int Priority { get; init; }

    /// <summary>Hash of the stored NZB; null if none was stored.</summary>
    public string? NzbHash { get; init; }

    /// <summary>Length of the decompressed NZB in bytes; 0 if unknown.</summary>
    public long NzbLength { get; init; }

    /// <summary>Total published bytes, or the encoded size of a failed item (SAB-44).</summary>
    public long Bytes { get; init; }

    /// <summary>Id of the release; null if the item failed.</summary>
    public long? ReleaseId { get; init; }

    /// <summary>Folder (NFC) of the item's links or <c>.strm</c> files inside the category folder; empty if the item failed (SAB-42).</summary>
    public string ReleaseFolder { get; init; } = "";

    /// <summary>Root folder of the item's <c>.strm</c> files; empty for links on the mount, null if an earlier version published the item.</summary>
    public string? StrmRoot { get; init; }

    /// <summary>Path of the item's release below <c>/content</c>; null if it has none. Set only by lists of the web UI.</summary>
    public string? ContentPath { get; init; }

    /// <summary>Whether the item's release is in no library (<see cref="ReleaseClaims"/>). Set only by lists of the web UI.</summary>
    public bool IsRejected { get; init; }

    /// <summary>Facts about the item's release; null if it has none. Set only by lists of the web UI.</summary>
    public ReleaseFacts? Facts { get; init; }

    /// <summary>Name of a <see cref="FailureReason"/>; null if the item completed.</summary>
    public string? Reason { get; init; }

    public string FailMessage { get; init; } = "";

    /// <summary>When the last import attempt started.</summary>
    public DateTimeOffset StartedAt { get; init; }

    public long StartedMilliseconds
    {
        get => StartedAt.ToUnixTimeMilliseconds();
        init => StartedAt = StoredTime.Read(value);
    }

    public DateTimeOffset CompletedAt { get; init; }

    public long CompletedMilliseconds
    {
        get => CompletedAt.ToUnixTimeMilliseconds();
        init => CompletedAt = StoredTime.Read(value);
    }

    public IReadOnlyList<StepTiming> Steps { get; init; } = [];

    /// <summary>The steps in their stored form, as JSON.</summary>
    public string StepsText
    {
        get => JsonSerializer.Serialize(Steps, StepsJson.Default.IReadOnlyListStepTiming);
        init => Steps = ReadSteps(value);
    }

    /// <summary>Where the SABnzbd API lists the item. The history page lists all items.</summary>
    public ClientView View { get; init; }

    public bool IsCompleted => Reason is null;

    /// <summary>Whether the import can be retried, because its NZB is stored or has a URL.</summary>
    public bool MayReturn => !IsCompleted && (NzbHash ?? Url) is not null;

    /// <summary>Ignores malformed JSON, because the steps are only for information.</summary>
    private static IReadOnlyList<StepTiming> ReadSteps(string text)
    {
        try
        {
            var steps = JsonSerializer.Deserialize(text, StepsJson.Default.IReadOnlyListStepTiming) ?? [];
            return [.. steps.OfType<StepTiming>().Where(step => step is { Step: not null, Detail: not null })];
        }
        catch (JsonException)
        {
            return [];
        }
    }
}

/// <summary>Where the SABnzbd API lists an item. The numbers must not change, because <c>history_item.archived</c> stores them.</summary>
internal enum ClientView
{
    History = 0,

    /// <summary>A client has deleted the item, or its release folder.</summary>
    Archive = 1,

    /// <summary>A client has deleted the item permanently.</summary>
    Nowhere = 2,
}

[JsonSerializable(typeof(IReadOnlyList<StepTiming>))]
internal sealed partial class StepsJson : JsonSerializerContext;

/// <summary>Duration and findings of one import step (IMP-25). The detail is text such as "3 files, 5 heads".</summary>
internal sealed record StepTiming(string Step, long Milliseconds, string Detail);

/// <summary>History items were added, removed or changed. Archiving counts as a change.</summary>
internal sealed record HistoryItemsChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    public override string Type => "history.changed";

    public static WatchedTable Watch(EventFeed feed) =>
        new("history_item", ["id"], (changed, removed) => feed.Publish(new HistoryItemsChanged(Limit(changed), Limit(removed))));
}
