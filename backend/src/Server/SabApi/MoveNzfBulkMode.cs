namespace Sluice.Server.SabApi;

/// <summary><c>mode=move_nzf_bulk</c>: the files of an item have no order that could be chosen.</summary>
internal sealed class MoveNzfBulkMode : ISabMode
{
    /// <inheritdoc/>
    public string Name => "move_nzf_bulk";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) =>
        SabAnswer.ErrorAsync(call, call.Parameters.Text("value").Length == 0 ? SabTexts.OneParameter : SabTexts.NotImplemented);
}
