using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>What <c>mode=queue&amp;name=…</c> does to items.</summary>
internal sealed class QueueActions(QueueStore store, QueueRemoval removal, QueueActivity activity, QueueSchedule schedule)
{
    /// <summary>Removes items for good.</summary>
    public async Task DeleteAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids)
        {
            await SabAnswer.ErrorAsync(call.Http, SabTexts.OneParameter);
            return;
        }

        if (ids is ["all"])
            ids = await FindAllAsync(call);
        var removed = await removal.RemoveAsync(ids, call.Cancelled);
        await AnswerAsync(call, removed.Count > 0, removed);
    }

    /// <summary>Lets items wait, or no longer. Work that is under way starts over when it goes on.</summary>
    public async Task PauseAsync(SabCall call, bool paused)
    {
        var ids = call.Parameters.List("value") ?? [];
        await store.SetPausedAsync(ids, paused, call.Cancelled);
        foreach (var id in paused ? ids : [])
            activity.Cancel(id);
        schedule.Wake();
        await AnswerAsync(call, true, ids);
    }

    private async Task<IReadOnlyList<string>> FindAllAsync(SabCall call)
    {
        var filter = new QueueFilter { Search = call.Parameters.Text("search"), Categories = call.Parameters.List("cat", "category") };
        var ids = new List<string>();
        await foreach (var item in store.StreamAsync(filter, 0, 0, call.Cancelled))
            ids.Add(item.Id);
        return ids;
    }

    private static Task AnswerAsync(SabCall call, bool status, IReadOnlyList<string> ids) =>
        SabAnswer.WriteAsync(
            call.Http,
            json =>
            {
                json.WriteBoolean("status", status);
                json.WriteStartArray("nzo_ids");
                foreach (var id in ids)
                    json.WriteStringValue(id);
                json.WriteEndArray();
            });
}
