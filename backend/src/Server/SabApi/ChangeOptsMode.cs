using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=change_opts</c>: how an item is to be processed, kept and echoed, without effect.</summary>
internal sealed class ChangeOptsMode(QueueStore store) : ISabMode
{
    private const int Most = 3;

    /// <inheritdoc/>
    public string Name => "change_opts";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids
            || !int.TryParse(call.Parameters.Text("value2"), NumberStyles.None, CultureInfo.InvariantCulture, out var options))
        {
            await SabAnswer.ErrorAsync(call, SabTexts.NoItem);
            return;
        }

        await SabAnswer.BareStatusAsync(call, options <= Most && await store.SetPostProcessingAsync(ids, options, call.Cancelled) > 0);
    }
}
