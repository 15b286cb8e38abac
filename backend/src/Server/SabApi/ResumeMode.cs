using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=resume</c>: ends the pause of the queue, a timed one too.</summary>
internal sealed class ResumeMode(QueuePause pause) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "resume";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        await (await pause.ResumeAsync(call.Cancelled) ? SabAnswer.StatusAsync(call, true) : SabAnswer.ErrorAsync(call, SabTexts.ConfigLocked));
    }
}
