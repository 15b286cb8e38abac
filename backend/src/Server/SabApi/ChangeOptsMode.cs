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
        var isKnown = int.TryParse(call.Parameters.Text("value2"), NumberStyles.None, CultureInfo.InvariantCulture, out var options) && options <= Most;
        var ids = call.Parameters.List("value") ?? [];
        await SabAnswer.StatusAsync(call, isKnown && await store.SetPostProcessingAsync(ids, options, call.Cancelled) > 0);
    }
}
