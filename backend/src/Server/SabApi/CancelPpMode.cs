using Sluice.Server.History;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=cancel_pp</c>: gives up items that are being checked or published, as SABnzbd does while it repairs and unpacks.</summary>
internal sealed class CancelPpMode(QueueActivity activity, QueueRemoval removal) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "cancel_pp";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        var running = activity.Current;
        string[] ids =
        [
            .. (call.Parameters.List("value") ?? [])
                .Where(id => running.TryGetValue(id, out var work) && SabWords.OfStep(work.Step) is SabWords.Checking or SabWords.Moving),
        ];
        // An item whose publishing is carried through in the meantime is no longer there.
        var cancelled = ids.Length == 0 ? [] : await removal.FailAsync(_ => ids, ImportFailure.Cancelled("a client"), call.Cancelled);
        await (cancelled.Count == 0 ? SabAnswer.ErrorAsync(call, SabTexts.NoItem) : SabAnswer.ItemsAsync(call, true, cancelled));
    }
}
