using System.Globalization;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=queue</c>: the list, and the actions named by <c>name</c>.</summary>
internal sealed class QueueMode(
    QueueStore store,
    ItemPasswords passwords,
    QueueActivity activity,
    QueueSchedule schedule,
    QueueActions actions,
    QueueHeader header,
    TimeProvider time) : ISabMode
{
    public string Name => "queue";

    public Task AnswerAsync(SabCall call) => actions.Answer(call, call.Parameters.Text("name")) ?? ListAsync(call);

    private async Task ListAsync(SabCall call)
    {
        var (start, limit) = (call.Parameters.Number("start"), call.Parameters.Number("limit"));
        var running = activity.Current;
        var filter = QueueQuery.Read(call.Parameters, running);
        var totals = await store.GetTotalsAsync(filter, call.Cancelled);
        var summary = await QueueSummary.TakeAsync(store, totals, running, time, call.Cancelled);

        using var answer = SabAnswer.Begin(call);
        var to = answer.Writer;
        to.BeginObject("queue");
        header.Write(to, summary);
        to.Field("noofslots_total", totals.Items);
        to.Field("noofslots", totals.Matches);
        to.Field("start", start);
        to.Field("limit", limit);
        to.Field("finish", (long)start + limit);
        to.BeginList("slots");
        await foreach (var item in store.StreamAsync(filter, start, limit, call.Cancelled))
        {
            WriteSlot(to, item, running.GetValueOrDefault(item.Id));
            await answer.SendIfDueAsync();
        }

        to.EndList();
        to.EndObject();
        await answer.CompleteAsync();
    }

    private void WriteSlot(ISabWriter to, QueueItem item, ItemActivity? work)
    {
        var percent = work?.Percent ?? 0;
        var left = QueueSummary.BytesLeft(item.EncodedBytes, percent);
        to.BeginObject();
        to.Field("index", item.Index);
        to.Field("nzo_id", item.Id);
        to.Field("unpackopts", SabWords.UnpackOptions(item.PostProcessing));
        to.Field("priority", item.Priority.ToString());
        to.Field("script", SabWords.Script(item.Script));
        to.Field("filename", item.Name);
        to.BeginList("labels");
        if (work is null && !item.Paused && schedule.IsRetrying(item.Id))
            to.Field(null, "WAITING");
        to.EndList();
        to.Field("password", passwords.Open(item));
        to.Field("cat", item.Category);
        to.Field("mb", SabUnits.Mebibytes(item.EncodedBytes));
        to.Field("mbleft", SabUnits.Mebibytes(left));
        to.Field("size", SabUnits.Size(item.EncodedBytes));
        to.Field("sizeleft", SabUnits.Size(left));
        to.Field("percentage", percent.ToString(CultureInfo.InvariantCulture));
        to.Field("mbmissing", SabUnits.Mebibytes(0));
        to.Field("direct_unpack", null);
        to.Field("status", SabWords.QueueStatus(item, work));
        to.Field("timeleft", SabUnits.TimeLeft(QueueSummary.TimeLeft(work, time)));
        to.Field("avg_age", SabUnits.Age(item.PostedAt, time.WallTime()));
        to.Field("time_added", item.AddedAt.ToUnixTimeSeconds());
        to.EndObject();
    }
}

internal static class QueueQuery
{
    public static QueueFilter Read(SabParameters parameters, IReadOnlyDictionary<string, ItemActivity> running) => new()
    {
        Search = parameters.Text("search"),
        Ids = parameters.List("nzo_ids"),
        Categories = parameters.List("cat", "category"),
        Priorities = ReadPriorities(parameters.List("priority")),
        State = parameters.List("status") is { } statuses ? ReadState(statuses, running) : null,
    };

    // Accepts numbers and words. Any other text matches nothing.
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
        statuses.Contains(SabWords.Queued),
        statuses.Contains(SabWords.Grabbing));
}
