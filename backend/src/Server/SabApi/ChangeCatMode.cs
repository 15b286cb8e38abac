using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=change_cat</c>, also for items that are worked on: the category counts when they are published.</summary>
internal sealed class ChangeCatMode(QueueRenaming renaming) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "change_cat";

    /// <inheritdoc/>
    public async Task AnswerAsync(SabCall call)
    {
        var parameters = call.Parameters;
        var category = parameters.Text("value2") is { Length: > 0 } text ? text : parameters.Text("cat", "category");
        if (parameters.List("value") is not { } ids || category.Length == 0)
            await SabAnswer.ErrorAsync(call, SabTexts.OneParameter);
        else
            await SabAnswer.BareStatusAsync(call, await renaming.SetCategoryAsync(ids, category, call.Cancelled) > 0);
    }
}
