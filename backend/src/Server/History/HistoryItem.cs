using System.Diagnostics.CodeAnalysis;
using System.Text.Json;
using System.Text.Json.Serialization;
using Dapper;
using Sluice.Server.Database;

namespace Sluice.Server.History;

/// <summary>An import that has ended, well or not.</summary>
internal sealed record HistoryItem : ImportItem
{
    /// <summary>Of nothing that was in the queue.</summary>
    [ExplicitConstructor]
    public HistoryItem()
    {
    }

    /// <summary>Makes the history item of an import, with the properties that it had in the queue.</summary>
    [SetsRequiredMembers]
    public HistoryItem(ImportItem item)
        : base(item)
    {
    }

    /// <summary>The number of its row; 0 as long as it has none.</summary>
    public long Number { get; init; }

    /// <summary>Priority of the queue item, for a retry.</summary>
    public int Priority { get; init; }

    /// <summary>Content id of the stored NZB, or null when none could be stored.</summary>
    public string? NzbHash { get; init; }

    /// <summary>Bytes of the plain NZB; 0 where they are not known.</summary>
    public long NzbLength { get; init; }

    /// <summary>Sum of the published lengths in bytes, or the encoded size of a failed item (SAB-44).</summary>
    public long Bytes { get; init; }

    /// <summary>The release, or null for a failed item.</summary>
    public long? ReleaseId { get; init; }

    /// <summary>Name of a <see cref="FailureReason"/>, or null for a completed item.</summary>
    public string? Reason { get; init; }

    /// <summary>Sentence of the reason, or empty.</summary>
    public string FailMessage { get; init; } = "";

    /// <summary>When the work on it began that ended here.</summary>
    public DateTimeOffset StartedAt { get; init; }

    /// <summary><see cref="StartedAt"/> as its row has it, in Unix milliseconds.</summary>
    public long StartedMilliseconds
    {
        get => StartedAt.ToUnixTimeMilliseconds();
        init => StartedAt = StoredTime.Read(value);
    }

    /// <summary>When it ended.</summary>
    public DateTimeOffset CompletedAt { get; init; }

    /// <summary><see cref="CompletedAt"/> as its row has it, in Unix milliseconds.</summary>
    public long CompletedMilliseconds
    {
        get => CompletedAt.ToUnixTimeMilliseconds();
        init => CompletedAt = StoredTime.Read(value);
    }

    /// <summary>What took how long.</summary>
    public IReadOnlyList<StepTiming> Steps { get; init; } = [];

    /// <summary><see cref="Steps"/> as its row has them, in JSON.</summary>
    public string StepsText
    {
        get => JsonSerializer.Serialize(Steps, StepsJson.Default.IReadOnlyListStepTiming);
        init => Steps = ReadSteps(value);
    }

    /// <summary>Whether a client has deleted it: it stays for those who ask for the archive.</summary>
    public bool Archived { get; init; }

    /// <summary>Whether a release came of it.</summary>
    public bool IsCompleted => Reason is null;

    /// <summary>Whether it can be tried again: its NZB is stored, or can be asked for at its address.</summary>
    public bool MayReturn => !IsCompleted && (NzbHash ?? Url) is not null;

    /// <summary>What cannot be understood is left out: it tells how the item came about, and the item is still one.</summary>
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

/// <summary>How steps stand in JSON, generated at build.</summary>
[JsonSerializable(typeof(IReadOnlyList<StepTiming>))]
internal sealed partial class StepsJson : JsonSerializerContext;

/// <summary>Duration and findings of one step of an import (IMP-25).</summary>
/// <param name="Step">Name of the step.</param>
/// <param name="Milliseconds">From its start to its end.</param>
/// <param name="Detail">Counts in words, as in "3 files, 5 heads"; may be empty.</param>
internal sealed record StepTiming(string Step, long Milliseconds, string Detail);
