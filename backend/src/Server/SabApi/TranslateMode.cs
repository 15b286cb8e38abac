namespace Sluice.Server.SabApi;

/// <summary><c>mode=translate</c>: there is one language, and a text is its own translation.</summary>
internal sealed class TranslateMode : ISabMode
{
    /// <inheritdoc/>
    public string Name => "translate";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => SabAnswer.WriteAsync(call, to => to.Field("value", call.Parameters.Text("value")));
}
