using Sluice.Server.Library;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=get_cats</c>.</summary>
internal sealed class GetCatsMode(CategoryRules categories) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "get_cats";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) =>
        SabAnswer.WriteAsync(call, to => to.Texts("categories", [CategoryRules.None, .. categories.Configured]));
}
