using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=history</c>: the list, and the actions named by <c>name</c>.</summary>
internal sealed class HistoryMode(
    HistoryStore store,
    ItemPasswords passwords,
    CompleteFolder completeFolder,
    ProviderUsage usage,
    HistoryActions actions,
    IOptionsMonitor<ApiOptions> options) : ISabMode
{
    // SABnzbd's default (SAB-40).
    private const int DefaultLimit = 10;

    public string Name => "history";

    public Task AnswerAsync(SabCall call) => call.Parameters.Text("name") switch
    {
        "delete" => actions.DeleteAsync(call),
        "mark_as_completed" => actions.CompleteAsync(call),
        _ => ListAsync(call),
    };

    private async Task ListAsync(SabCall call)
    {
        // Read the counter before the rows, so that a concurrent change is reported twice rather than never.
        var changes = await store.CountChangesAsync(call.Cancelled);
        if (call.Parameters.Text("last_history_update") == changes.ToString(CultureInfo.InvariantCulture))
        {
            await SabAnswer.WriteAsync(call, to => to.Field("history", false));
            return;
        }

        var filter = Read(call.Parameters);
        var (start, limit) = Page(call);
        var page = await store.FindPageAsync(filter, start, limit, call.Cancelled);

        using var answer = SabAnswer.Begin(call);
        var to = answer.Writer;
        to.BeginObject("history");
        WriteTraffic(to);
        to.Field("ppslots", 0);
        to.Field("noofslots", page.Matches);
        to.Field("last_history_update", changes);
        to.Field("version", SabTexts.Version);
        to.BeginList("slots");
        await foreach (var item in store.StreamAsync(page, call.Cancelled))
        {
            HistorySlot.Write(to, item, passwords.Open(item), completeFolder.RootOf(item));
            await answer.SendIfDueAsync();
        }

        to.EndList();
        to.EndObject();
        await answer.CompleteAsync();
    }

    private void WriteTraffic(ISabWriter to)
    {
        var sums = usage.Sum();
        to.Field("total_size", SabUnits.Short(sums.Total));
        to.Field("month_size", SabUnits.Short(sums.Month));
        to.Field("week_size", SabUnits.Short(sums.Week));
        to.Field("day_size", SabUnits.Short(sums.Day));
    }

    private (int Start, int Limit) Page(SabCall call)
    {
        var (start, limit) = (call.Parameters.Number("start"), call.Parameters.Number("limit"));
        if (options.CurrentValue.IgnoreHistoryLimit && call.IsFamily && start == 0)
            return (0, options.CurrentValue.HistoryMaxPageSize);
        return (start, limit == 0 ? DefaultLimit : limit);
    }

    private static HistoryFilter Read(SabParameters parameters)
    {
        var statuses = parameters.List("status");
        var (completed, failed) = (statuses?.Contains(HistorySlot.Completed) ?? true, statuses?.Contains(HistorySlot.Failed) ?? true);
        if (parameters.Text("failed_only") == "1")
            completed = false;
        return new HistoryFilter
        {
            Search = parameters.Text("search"),
            Ids = parameters.List("nzo_ids"),
            Categories = parameters.List("cat", "category")?.Select(SabWords.Category).ToList(),
            Completed = completed == failed ? null : completed,
            Archived = parameters.Text("archive") == "1",
            // Any other status matches nothing.
            Nothing = !(completed || failed),
        };
    }
}
