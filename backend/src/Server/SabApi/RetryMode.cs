using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=retry</c>: failed items go back into the queue under their ids, with another password or NZB where one is sent.</summary>
internal sealed class RetryMode(QueueReturn queue) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "retry";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        if (call.Upload?.Refusal is { } refusal)
        {
            await SabAddition.RefuseAsync(call, refusal);
            return;
        }

        var ids = call.Parameters.List("value") ?? [];
        var returned = new List<string>();
        // An NZB is that of one item.
        var change = new QueueReturnChange(call.Parameters.Text("password"), ids.Count == 1 ? call.Upload : null);
        foreach (var id in ids.Distinct())
        {
            var end = await queue.ReturnAsync(id, change, call.Cancelled);
            if (end == QueueReturnEnd.Returned)
                returned.Add(id);
            if (end != QueueReturnEnd.QueueFull)
                continue;
            if (returned.Count == 0)
            {
                await SabAnswer.ErrorAsync(call, SabTexts.QueueFull);
                return;
            }

            break;
        }

        await AnswerAsync(call, returned, isList: ids.Count > 1);
    }

    private static Task AnswerAsync(SabCall call, List<string> returned, bool isList) => returned.Count == 0
        ? SabAnswer.ErrorAsync(call, SabTexts.NoItem)
        : SabAnswer.ResultAsync(
            call,
            to =>
            {
                to.Field("status", true);
                to.Field("nzo_id", returned[0]);
                if (isList)
                    to.Texts("nzo_ids", returned);
            });
}
