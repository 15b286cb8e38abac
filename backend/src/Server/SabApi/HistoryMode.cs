using System.Globalization;
using System.Text.Json;
using Microsoft.Extensions.Options;
using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Settings;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=history</c>.</summary>
internal sealed class HistoryMode(
    HistoryStore store,
    CompleteFolder completeFolder,
    TrafficRate traffic,
    IOptionsMonitor<ApiOptions> options) : ISabMode
{
    // The limit of a client that polls without one, as in SABnzbd (SAB-40).
    private const int DefaultLimit = 10;

    /// <inheritdoc/>
    public string Name => "history";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        // Taken before the rows: a change in between is then told once more rather than never.
        var changes = await store.CountChangesAsync(call.Cancelled);
        if (call.Parameters.Text("last_history_update") == changes.ToString(CultureInfo.InvariantCulture))
        {
            await SabAnswer.WriteAsync(call.Http, json => json.WriteBoolean("history", false));
            return;
        }

        var filter = Read(call.Parameters);
        var (start, limit) = Page(call);
        var page = await store.FindPageAsync(filter, start, limit, call.Cancelled);

        using var answer = SabAnswer.Begin(call.Http);
        var json = answer.Json;
        json.WriteStartObject();
        json.WriteStartObject("history");
        WriteTraffic(json);
        json.WriteNumber("ppslots", 0);
        json.WriteNumber("noofslots", page.Matches);
        json.WriteNumber("last_history_update", changes);
        json.WriteString("version", SabTexts.Version);
        json.WriteStartArray("slots");
        await foreach (var item in store.StreamAsync(page, call.Cancelled))
        {
            HistorySlot.Write(json, item, completeFolder.Path);
            await answer.SendIfDueAsync();
        }

        json.WriteEndArray();
        json.WriteEndObject();
        json.WriteEndObject();
        await answer.SendAsync();
    }

    /// <summary>Traffic is counted since the start of the process; nothing older is kept.</summary>
    private void WriteTraffic(Utf8JsonWriter json)
    {
        var total = SabUnits.Short(traffic.Total);
        json.WriteString("total_size", total);
        json.WriteString("month_size", total);
        json.WriteString("week_size", total);
        json.WriteString("day_size", total);
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
            Categories = parameters.List("cat", "category"),
            Completed = completed == failed ? null : completed,
            // Nothing is ever archived yet, and no item has any other status.
            Nothing = parameters.Text("archive") == "1" || !(completed || failed),
        };
    }
}
