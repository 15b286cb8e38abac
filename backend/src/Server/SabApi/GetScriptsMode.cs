namespace Sluice.Server.SabApi;

/// <summary><c>mode=get_scripts</c>: there are none.</summary>
internal sealed class GetScriptsMode : ISabMode
{
    /// <inheritdoc/>
    public string Name => "get_scripts";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => SabAnswer.WriteAsync(call, to => to.Texts("scripts", [SabWords.NoScript]));
}
