namespace Sluice.Server.SabApi;

/// <summary>A mode whose calls succeed and do nothing, because Sluice has nothing of its kind.</summary>
internal sealed class NoEffectMode(string name) : ISabMode
{
    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => SabAnswer.StatusAsync(call, true);
}

/// <summary>A mode that would change settings, which only Sluice's own pages and environment do.</summary>
internal sealed class LockedMode(string name) : ISabMode
{
    /// <inheritdoc/>
    public string Name => name;

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call) => SabAnswer.ErrorAsync(call, SabTexts.ConfigLocked);
}
