using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=retry</c>: returns failed items to the queue under their old ids, optionally with a new password or NZB.</summary>
internal sealed class RetryMode(QueueReturn queue) : ISabMode
{
    public string Name => "retry";

    public async Task AnswerAsync(SabCall call)
    {
        if (call.Upload?.Refusal is { } refusal)
        {
            await SabAddition.RefuseAsync(call, refusal);
            return;
        }

        var ids = call.Parameters.List("value") ?? [];
        // Use an uploaded NZB only if there is a single item, because the NZB belongs to exactly one.
        var change = new QueueReturnChange(call.Parameters.Text("password"), ids.Count == 1 ? call.Upload : null);
        var (returned, isFull) = await queue.ReturnAllAsync(ids.Distinct(), change, call.Cancelled);
        if (returned.Count == 0)
        {
            await SabAnswer.ErrorAsync(call, isFull ? SabTexts.QueueFull : SabTexts.NoItem);
            return;
        }

        await SabAnswer.ResultAsync(
            call,
            to =>
            {
                to.Field("status", true);
                to.Field("nzo_id", returned[0]);
                if (ids.Count > 1)
                    to.Texts("nzo_ids", returned);
            });
    }
}
