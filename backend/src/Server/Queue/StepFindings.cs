using System.Globalization;
using System.Text.Json;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>What a step found: counts, and sources of names (IMP-25).</summary>
/// <param name="Counts">Plural nouns with counts, such as (<c>heads</c>, 5).</param>
internal sealed record StepFindings(params IReadOnlyList<(string Name, long Count)> Counts)
{
    public static StepFindings None { get; } = new();

    /// <summary>Source of the chosen names; empty if the step chooses none.</summary>
    public string Names { get; init; } = "";

    /// <summary>Text for the history, such as <c>3 files, 5 heads</c>.</summary>
    public string Words
    {
        get
        {
            var counts = Counts.Select(count => string.Create(CultureInfo.InvariantCulture, $"{count.Count} {count.Name}"));
            return string.Join(", ", Names.Length == 0 ? counts : counts.Append($"names from {Names}"));
        }
    }
}

internal enum StepState
{
    Started,

    Finished,

    /// <summary>The item failed or has to wait, or its import was canceled.</summary>
    Failed,
}

/// <summary>A step of an import started or ended (IMP-25).</summary>
/// <param name="Milliseconds">Duration since the start of the step.</param>
internal sealed record JobStepEvent(string Id, string Step, StepState State, long Milliseconds, StepFindings Findings) : LiveEvent
{
    public override string Type => "job.step";

    protected override void WriteFields(Utf8JsonWriter json)
    {
        json.WriteString("id", Id);
        json.WriteString("step", Step);
        json.WriteString("state", State switch
        {
            StepState.Started => "started",
            StepState.Finished => "finished",
            _ => "failed",
        });
        json.WriteNumber("ms", Milliseconds);
        json.WriteStartObject("detail");
        foreach (var (name, count) in Findings.Counts)
            json.WriteNumber(name, count);
        if (Findings.Names.Length > 0)
            json.WriteString("names", Findings.Names);
        json.WriteEndObject();
    }
}
