namespace Sluice.Server.History;

/// <summary>Which history items are asked for. Null lists and null search match everything.</summary>
internal sealed record HistoryFilter
{
    /// <summary>Case-insensitive part of the name.</summary>
    public string? Search { get; init; }

    /// <summary>Ids.</summary>
    public IReadOnlyList<string>? Ids { get; init; }

    /// <summary>Stored categories, compared exactly.</summary>
    public IReadOnlyList<string>? Categories { get; init; }

    /// <summary>True: completed items, false: failed ones, null: both.</summary>
    public bool? Completed { get; init; }

    /// <summary>Matches nothing at all, whatever the rest says.</summary>
    public bool Nothing { get; init; }
}
