using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>Reads the filters of <c>mode=queue</c>.</summary>
internal static class QueueQuery
{
    /// <summary>The filter of a call.</summary>
    /// <param name="parameters">The call.</param>
    /// <param name="running">Items being worked on.</param>
    public static QueueFilter Read(SabParameters parameters, IReadOnlyDictionary<string, ItemActivity> running) => new()
    {
        Search = parameters.Text("search"),
        Ids = parameters.List("nzo_ids"),
        Categories = parameters.List("cat", "category"),
        Priorities = ReadPriorities(parameters.List("priority")),
        State = parameters.List("status") is { } statuses ? ReadState(statuses, running) : null,
    };

    // Numbers as well as words; what is neither matches nothing.
    private static List<QueuePriority>? ReadPriorities(IReadOnlyList<string>? values) => values is null
        ? null
        :
        [
            .. values.Select(value => int.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number)
                ? (QueuePriority)number
                : Enum.TryParse<QueuePriority>(value, out var word) ? word : (QueuePriority)int.MinValue),
        ];

    private static QueueStateFilter ReadState(IReadOnlyList<string> statuses, IReadOnlyDictionary<string, ItemActivity> running) => new(
        [.. running.Where(pair => statuses.Contains(SabWords.OfStep(pair.Value.Step))).Select(pair => pair.Key)],
        [.. running.Keys],
        statuses.Contains(SabWords.Paused),
        statuses.Contains(SabWords.Queued));
}
