using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=watched_now</c>: looks into the watch folder at once (IMP-7). The answer waits for no file.</summary>
internal sealed class WatchedNowMode(WatchFolderWorker folder) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "watched_now";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call)
    {
        folder.Look();
        return SabAnswer.StatusAsync(call, true);
    }
}
