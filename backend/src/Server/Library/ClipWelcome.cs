using Sluice.Server.Auth;
using Sluice.Server.Providers;

namespace Sluice.Server.Library;

/// <summary>Shows the built-in clip to whoever starts Sluice for the first time and has no provider yet.</summary>
internal sealed class ClipWelcome(BuiltInClip clip, ProviderHost providers) : IWelcomePath
{
    /// <inheritdoc/>
    public string Title => "Film";

    /// <inheritdoc/>
    public string? Path => providers.HasProviders ? null : $"/content/{BuiltInClip.Category}/{Uri.EscapeDataString(clip.File.Name)}";
}
