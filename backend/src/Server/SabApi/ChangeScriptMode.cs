using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=change_script</c>: kept and echoed, without effect.</summary>
internal sealed class ChangeScriptMode(QueueStore store) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "change_script";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        var script = call.Parameters.Text("value2");
        if (call.Parameters.List("value") is not { } ids || script.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
            return;
        }

        var kept = script.Equals(SabWords.NoScript, StringComparison.OrdinalIgnoreCase) ? "" : QueueItem.LimitScript(script);
        await SabAnswer.BareStatusAsync(call, await store.SetScriptAsync(ids, kept, call.Cancelled) > 0);
    }
}
