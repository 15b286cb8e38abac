using System.Globalization;
using System.Text.Json;
using Sluice.Server.Events;

namespace Sluice.Server.Queue;

/// <summary>The findings of a step (IMP-25): what it has counted, and where names come from.</summary>
/// <param name="Counts">Names in the plural with their counts, as in (<c>heads</c>, 5).</param>
internal sealed record StepFindings(params IReadOnlyList<(string Name, long Count)> Counts)
{
    /// <summary>Nothing.</summary>
    public static StepFindings None { get; } = new();

    /// <summary>The sources of the chosen names; empty where the step chooses none.</summary>
    public string Names { get; init; } = "";

    /// <summary>The same in words, for the history, as in <c>3 files, 5 heads</c>.</summary>
    public string Words
    {
        get
        {
            var counts = Counts.Select(count => string.Create(CultureInfo.InvariantCulture, $"{count.Count} {count.Name}"));
            return string.Join(", ", Names.Length == 0 ? counts : counts.Append($"names from {Names}"));
        }
    }
}

/// <summary>What has become of a step.</summary>
internal enum StepState
{
    /// <summary>It begins.</summary>
    Started,

    /// <summary>It is done.</summary>
    Finished,

    /// <summary>The item cannot be imported, has to wait, or was taken away from the work.</summary>
    Failed,
}

/// <summary>A step of an import begins or ends (IMP-25).</summary>
/// <param name="Id">The item.</param>
/// <param name="Step">Name of the step.</param>
/// <param name="State">What has become of it.</param>
/// <param name="Milliseconds">Since its start.</param>
/// <param name="Findings">What it has found.</param>
internal sealed record JobStepEvent(string Id, string Step, StepState State, long Milliseconds, StepFindings Findings) : LiveEvent
{
    /// <inheritdoc/>
    public override string Type => "job.step";

    /// <inheritdoc/>
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
