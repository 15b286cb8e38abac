using Sluice.Server.History;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>Actions of <c>mode=history&amp;name=…</c>.</summary>
internal sealed class HistoryActions(
    HistoryStore store, CompletedStore completed, HistoryRemoval removal, Rejections rejections, QueueReturn queue, ILogger<HistoryActions> logger)
{
    /// <summary>Hides items from the history list, or from the archive too. They stay mounted and on the history page (SAB-94).</summary>
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
        var isForGood = call.Parameters.Text("archive") == "0";
        var wantsFilesGone = wantsContentGone || call.Parameters.Text("del_files") == "1";
        var forgetsNzbs = isForGood || wantsFilesGone;
        // Include archived items only if the call changes them.
        var filter = Select(values, call.Parameters) with { Archived = forgetsNzbs ? null : false };
        var numbers = await store.FindNumbersAsync(filter, call.Cancelled);
        await removal.HideAsync(numbers, isForGood ? ClientView.Nowhere : ClientView.Archive, forgetsNzbs, call.Cancelled);
        if (wantsFilesGone)
            await rejections.ReportAsync(numbers, call.Cancelled);
        await SabAnswer.StatusAsync(call, true);
    }

    /// <summary>Marks failed items as completed if their content is already mounted.</summary>
    public async Task CompleteAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids)
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
        else if (await completed.CompleteAsync(ids, call.Cancelled))
            await SabAnswer.StatusAsync(call, true);
        else
            await SabAnswer.ErrorAsync(call, SabTexts.NoItem);
    }

    /// <summary>Retries all failed items whose NZB still exists, until the queue is full.</summary>
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
