using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>The actions of <c>mode=queue&amp;name=…</c>.</summary>
internal sealed class QueueActions(QueueStore store, QueueCommands commands, QueueRemoval removal, QueueRenaming renaming)
{
    // SABnzbd's priority numbers for paused and stopped. They have no effect on queued items.
    private const int Paused = -2;
    private const int Stop = -4;
    private const int MaxPostProcessing = 3;

    /// <summary>Runs an action. Returns null if no action has this name.</summary>
    public Task? Answer(SabCall call, string name) => name switch
    {
        "delete" => DeleteAsync(call),
        "purge" => RemoveMatchesAsync(call),
        "pause" => PauseAsync(call, paused: true),
        "resume" => PauseAsync(call, paused: false),
        "priority" => SetPriorityAsync(call),
        "rename" => RenameAsync(call),
        "sort" => SortAsync(call),
        // Sluice does nothing when the queue completes, so the call succeeds without effect.
        "change_complete_action" => SabAnswer.StatusAsync(call, true),
        "delete_nzf" => KeepFilesAsync(call),
        _ => null,
    };

    private async Task DeleteAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids)
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
        else if (ids is [var all] && all.Equals("all", StringComparison.OrdinalIgnoreCase))
            await RemoveMatchesAsync(call);
        else
            await RemoveAsync(call, ids);
    }

    private async Task RemoveMatchesAsync(SabCall call)
    {
        var filter = new QueueFilter { Search = call.Parameters.Text("search"), Categories = call.Parameters.List("cat", "category") };
        await RemoveAsync(call, await store.FindIdsAsync(filter, call.Cancelled));
    }

    private async Task RemoveAsync(SabCall call, IReadOnlyList<string> ids)
    {
        var removed = await removal.RemoveAsync(ids, call.Cancelled);
        await SabAnswer.ItemsAsync(call, removed.Count > 0, removed);
    }

    private async Task PauseAsync(SabCall call, bool paused)
    {
        var ids = call.Parameters.List("value") ?? [];
        await commands.SetPausedAsync(ids, paused, call.Cancelled);
        await SabAnswer.ItemsAsync(call, ids.Count > 0, ids);
    }

    private async Task SetPriorityAsync(SabCall call)
    {
        var (ids, text) = (call.Parameters.List("value"), call.Parameters.Text("value2"));
        if (ids is null || text.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.TwoParameters);
            return;
        }

        if (!int.TryParse(text, NumberStyles.Integer, CultureInfo.InvariantCulture, out var number))
        {
            await SabAnswer.ErrorAsync(call, SabTexts.IntegerValue);
            return;
        }

        QueuePriority? priority = number switch
        {
            Paused or Stop => null,
            _ => Enum.IsDefined((QueuePriority)number) ? (QueuePriority)number : QueuePriority.Normal,
        };
        var place = await commands.SetPriorityAsync(ids, priority, call.Cancelled);
        await SabAnswer.WriteAsync(call, to => to.Field("position", place?.Index ?? -1));
    }

    private async Task RenameAsync(SabCall call)
    {
        var (id, name) = (call.Parameters.Text("value"), call.Parameters.Text("value2"));
        if (id.Length == 0 || name.Length == 0)
            await SabAnswer.ErrorAsync(call, SabTexts.TwoParameters);
        else
            await SabAnswer.StatusAsync(call, await renaming.RenameAsync(id, name, call.Parameters.Text("value3"), call.Cancelled));
    }

    /// <summary>Sets the category of items, even of running ones, because an item's category is not read until it is published.</summary>
    public async Task SetCategoryAsync(SabCall call)
    {
        var category = call.Parameters.Text("value2") is { Length: > 0 } text ? text : call.Parameters.Text("cat", "category");
        if (call.Parameters.List("value") is not { } ids || category.Length == 0)
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
        else
            await SabAnswer.BareStatusAsync(call, await renaming.SetCategoryAsync(ids, category, call.Cancelled) > 0);
    }

    /// <summary>Stores the script. Scripts never run; clients only read the value back.</summary>
    public async Task SetScriptAsync(SabCall call)
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

    /// <summary>Stores the post-processing option. It has no effect; clients only read the value back.</summary>
    public async Task SetPostProcessingAsync(SabCall call)
    {
        if (call.Parameters.List("value") is not { } ids
            || !int.TryParse(call.Parameters.Text("value2"), NumberStyles.None, CultureInfo.InvariantCulture, out var options))
        {
            await SabAnswer.ErrorAsync(call, SabTexts.NoItem);
            return;
        }

        await SabAnswer.BareStatusAsync(call, options <= MaxPostProcessing && await store.SetPostProcessingAsync(ids, options, call.Cancelled) > 0);
    }

    private async Task SortAsync(SabCall call)
    {
        var by = call.Parameters.Text("sort");
        if (by.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.TwoParameters);
            return;
        }

        QueueSortKey? key = by.ToUpperInvariant() switch
        {
            "NAME" => QueueSortKey.Name,
            "SIZE" or "BYTES" => QueueSortKey.Size,
            "AVG_AGE" => QueueSortKey.Age,
            "REMAINING" => QueueSortKey.Remaining,
            _ => null,
        };
        if (key is { } known)
        {
            var descending = call.Parameters.Text("dir").Equals("desc", StringComparison.OrdinalIgnoreCase);
            await commands.SortAsync(known, descending, call.Cancelled);
        }

        await SabAnswer.StatusAsync(call, true);
    }

    /// <summary>Responds that no file was removed, because Sluice never removes single files of an item.</summary>
    private static Task KeepFilesAsync(SabCall call) =>
        call.Parameters.Text("value").Length == 0 || call.Parameters.List("value2") is null
            ? SabAnswer.ErrorAsync(call, SabTexts.TwoParameters)
            : SabAnswer.ResultAsync(
                call,
                to =>
                {
                    to.Field("status", false);
                    to.Texts("nzf_ids", []);
                });
}
