namespace Sluice.Server.SabApi;

/// <summary><c>mode=version</c>.</summary>
internal sealed class VersionMode : ISabMode
{
    /// <inheritdoc/>
    public string Name => "version";

    /// <inheritdoc/>
    public bool IsOpen => true;

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => SabAnswer.WriteAsync(call, to => to.Field("version", SabTexts.Version));
}
