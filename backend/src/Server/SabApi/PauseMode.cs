using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=pause</c>: no further item begins but those of Force, until the queue is resumed.</summary>
internal sealed class PauseMode(QueuePause pause) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "pause";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        await (await pause.PauseAsync(null, call.Cancelled) ? SabAnswer.StatusAsync(call, true) : SabAnswer.ErrorAsync(call, SabTexts.ConfigLocked));
    }
}
