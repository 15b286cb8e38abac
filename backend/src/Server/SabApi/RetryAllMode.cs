using Sluice.Server.History;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=retry_all</c>: every failed item that still has its NZB goes back into the queue, as far as that takes them.</summary>
internal sealed class RetryAllMode(HistoryStore history, QueueReturn queue) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "retry_all";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        var returned = new List<string>();
        foreach (var id in await history.FindFailedAsync(call.Cancelled))
        {
            var end = await queue.ReturnAsync(id, QueueReturnChange.None, call.Cancelled);
            if (end == QueueReturnEnd.QueueFull)
                break;
            if (end == QueueReturnEnd.Returned)
                returned.Add(id);
        }

        await SabAnswer.WriteAsync(call, to => to.Texts("status", returned));
    }
}
