using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>What <c>mode=history&amp;name=…</c> does to items.</summary>
internal sealed class HistoryActions(HistoryStore store, HistoryRemoval removal, QueueReturn queue, ILogger<HistoryActions> logger)
{
    /// <summary>Archives items, or removes them for good. Mounted content stays, whatever the call says (SAB-94).</summary>
    public async Task DeleteAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } values)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        var wantsContentGone = call.Parameters.Text("del_completed_files") == "1";
        if (wantsContentGone)
            SabApiLog.ContentStays(logger);
        var forgetsNzbs = wantsContentGone || call.Parameters.Text("del_files") == "1";
        var isForGood = call.Parameters.Text("archive") == "0";
        // Only what changes an archived item is looked for among those.
        var filter = Select(values, call.Parameters) with { Archived = isForGood || forgetsNzbs ? null : false };
        var numbers = await store.FindNumbersAsync(filter, call.Cancelled);
        await (isForGood ? removal.RemoveAsync(numbers, call.Cancelled) : removal.ArchiveAsync(numbers, forgetsNzbs, call.Cancelled));
        await SabAnswer.StatusAsync(call, true);
    }

    /// <summary>Declares failed items whose content is mounted to be completed.</summary>
    public async Task CompleteAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids)
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
        else if (await store.CompleteAsync(ids, call.Cancelled))
            await SabAnswer.StatusAsync(call, true);
        else
            await SabAnswer.ErrorAsync(call, SabTexts.NoItem);
    }

    /// <summary>Puts every failed item that still has its NZB back into the queue, until the queue is full.</summary>
    public async Task RetryAllAsync(SabCall call)
    {
        var (returned, _) = await queue.ReturnAllAsync(await store.FindFailedAsync(call.Cancelled), QueueReturnChange.None, call.Cancelled);
        await SabAnswer.WriteAsync(call, to => to.Texts("status", returned));
    }

    private static HistoryFilter Select(IReadOnlyList<string> values, SabParameters parameters)
    {
        var word = values is [var only] ? only.ToUpperInvariant() : "";
        return word is "ALL" or "FAILED" or "COMPLETED"
            ? new HistoryFilter { Completed = word == "ALL" ? null : word == "COMPLETED", Search = parameters.Text("search") }
            : new HistoryFilter { Ids = values };
    }
}
