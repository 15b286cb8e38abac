using Sluice.Server.Library;
using Sluice.Server.Providers;
using Sluice.Server.Queue;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>Modes too small for a class of their own.</summary>
internal sealed class SmallModes(
    QueueActions queue, HistoryActions history, CategoryRules categories, ProviderHost providers, WatchFolderWorker watched, QueuePause pause)
{
    // Sluice does not have these features, so the calls succeed and do nothing.
    private static readonly string[] NoEffect = ["rss_now", "reset_quota", "pause_pp", "resume_pp"];

    // Settings can be changed only in Sluice's own UI and environment.
    private static readonly string[] Locked = ["set_config", "set_config_default", "del_config"];

    public IEnumerable<ISabMode> All =>
    [
        new SmallMode("version", call => SabAnswer.WriteAsync(call, to => to.Field("version", SabTexts.Version))) { IsOpen = true },
        new SmallMode("get_cats", call => SabAnswer.WriteAsync(call, to => to.Texts("categories", [CategoryRules.None, .. categories.Configured]))),
        new SmallMode("get_scripts", call => SabAnswer.WriteAsync(call, to => to.Texts("scripts", [SabWords.NoScript]))),
        // There is only one language, so every text is returned as is.
        new SmallMode("translate", call => SabAnswer.WriteAsync(call, to => to.Field("value", call.Parameters.Text("value")))),
        new SmallMode("pause", call => SabAnswer.PauseAsync(call, pause.PauseAsync(null, call.Cancelled))),
        new SmallMode("resume", call => SabAnswer.PauseAsync(call, pause.ResumeAsync(call.Cancelled))),
        new SmallMode("change_cat", queue.SetCategoryAsync),
        new SmallMode("change_script", queue.SetScriptAsync),
        new SmallMode("change_opts", queue.SetPostProcessingAsync),
        // The files of an item cannot be reordered.
        new SmallMode("move_nzf_bulk", call => SabAnswer.ErrorAsync(call, call.Parameters.Text("value").Length == 0 ? SabTexts.OneParameter : SabTexts.NotImplemented)),
        new SmallMode("retry_all", history.RetryAllAsync),
        // Scans the watch folder now (IMP-7). The response does not wait for the files.
        new SmallMode("watched_now", call => AnswerAsync(call, watched.ScanNow)),
        // Connections in use stay open, because a film may be playing.
        new SmallMode("disconnect", call => AnswerAsync(call, providers.CloseIdle)),
        .. NoEffect.Select(name => new SmallMode(name, call => SabAnswer.StatusAsync(call, true))),
        .. Locked.Select(name => new SmallMode(name, call => SabAnswer.ErrorAsync(call, SabTexts.ConfigLocked))),
    ];

    private static Task AnswerAsync(SabCall call, Action action)
    {
        action();
        return SabAnswer.StatusAsync(call, true);
    }

    private sealed class SmallMode(string name, Func<SabCall, Task> answer) : ISabMode
    {
        public string Name => name;

        public bool IsOpen { get; init; }

        public Task AnswerAsync(SabCall call) => answer(call);
    }
}
