using Sluice.Server.History;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=cancel_pp</c>: cancels items during checks or publication, because these steps correspond to SABnzbd's post-processing.</summary>
internal sealed class CancelPpMode(QueueActivity activity, QueueRemoval removal) : ISabMode
{
    public string Name => "cancel_pp";

    public async Task AnswerAsync(SabCall call)
    {
        var running = activity.Current;
        string[] ids =
        [
            .. (call.Parameters.List("value") ?? [])
                .Where(id => running.TryGetValue(id, out var work) && SabWords.OfStep(work.Step) is SabWords.Checking or SabWords.Moving),
        ];
        // Items published in the meantime have left the queue.
        var cancelled = ids.Length == 0 ? [] : await removal.FailAsync(_ => ids, ImportFailure.Cancelled("a client"), call.Cancelled);
        await (cancelled.Count == 0 ? SabAnswer.ErrorAsync(call, SabTexts.NoItem) : SabAnswer.ItemsAsync(call, true, cancelled.Select(item => item.Id)));
    }
}
