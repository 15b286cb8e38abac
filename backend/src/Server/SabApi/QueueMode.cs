using System.Globalization;
using System.Text.Json;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=queue</c>: the listing, and the actions of <c>name</c>.</summary>
internal sealed class QueueMode(
    QueueStore store,
    QueueActivity activity,
    QueueSchedule schedule,
    QueueActions actions,
    QueueHeader header,
    TimeProvider time) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "queue";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => call.Parameters.Text("name") switch
    {
        "delete" => actions.DeleteAsync(call),
        "pause" => actions.PauseAsync(call, paused: true),
        "resume" => actions.PauseAsync(call, paused: false),
        _ => ListAsync(call),
    };

    private async Task ListAsync(SabCall call)
    {
        var (start, limit) = (call.Parameters.Number("start"), call.Parameters.Number("limit"));
        var running = activity.Current;
        var filter = QueueQuery.Read(call.Parameters, running);
        var totals = await store.GetTotalsAsync(filter, call.Cancelled);
        var summary = await QueueSummary.TakeAsync(store, totals, running, time, call.Cancelled);

        using var answer = SabAnswer.Begin(call.Http);
        var json = answer.Json;
        json.WriteStartObject();
        json.WriteStartObject("queue");
        header.Write(json, summary);
        json.WriteNumber("noofslots_total", totals.Items);
        json.WriteNumber("noofslots", totals.Matches);
        json.WriteNumber("start", start);
        json.WriteNumber("limit", limit);
        json.WriteNumber("finish", (long)start + limit);
        json.WriteStartArray("slots");
        await foreach (var item in store.StreamAsync(filter, start, limit, call.Cancelled))
        {
            WriteSlot(json, item, running.GetValueOrDefault(item.Id));
            await answer.SendIfDueAsync();
        }

        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteEndObject();
        await answer.SendAsync();
    }

    private void WriteSlot(Utf8JsonWriter json, QueueItem item, ItemActivity? work)
    {
        var percent = work?.Percent ?? 0;
        var left = QueueSummary.BytesLeft(item.EncodedBytes, percent);
        json.WriteStartObject();
        json.WriteNumber("index", item.Index);
        json.WriteString("nzo_id", item.Id);
        json.WriteString("unpackopts", SabWords.UnpackOptions(item.PostProcessing));
        json.WriteString("priority", item.Priority.ToString());
        json.WriteString("script", SabWords.Script(item.Script));
        json.WriteString("filename", item.Name);
        json.WriteStartArray("labels");
        if (work is null && schedule.IsRetrying(item.Id))
            json.WriteStringValue("WAITING");
        json.WriteEndArray();
        json.WriteString("password", item.Password);
        json.WriteString("cat", item.Category);
        json.WriteString("mb", SabUnits.Mebibytes(item.EncodedBytes));
        json.WriteString("mbleft", SabUnits.Mebibytes(left));
        json.WriteString("size", SabUnits.Size(item.EncodedBytes));
        json.WriteString("sizeleft", SabUnits.Size(left));
        json.WriteString("percentage", percent.ToString(System.Globalization.CultureInfo.InvariantCulture));
        json.WriteString("mbmissing", SabUnits.Mebibytes(0));
        json.WriteNull("direct_unpack");
        json.WriteString("status", SabWords.QueueStatus(item, work));
        json.WriteString("timeleft", SabUnits.TimeLeft(QueueSummary.TimeLeft(work, time)));
        json.WriteString("avg_age", SabUnits.Age(item.PostedAt, time.WallTime()));
        json.WriteNumber("time_added", item.AddedAt.ToUnixTimeSeconds());
        json.WriteEndObject();
    }
}

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

    // Numbers as well as words; other text matches no item.
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
