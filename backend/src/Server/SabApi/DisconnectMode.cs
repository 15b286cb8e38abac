using Sluice.Server.Providers;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=disconnect</c>: closes idle connections. Those that are in use stay, for a film may be playing.</summary>
internal sealed class DisconnectMode(ProviderHost providers) : ISabMode
{
    /// <inheritdoc/>
    public string Name => "disconnect";

    /// <inheritdoc/>
    public Task AnswerAsync(SabCall call)
    {
        providers.CloseIdle();
        return SabAnswer.StatusAsync(call, true);
    }
}
