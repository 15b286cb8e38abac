using Microsoft.Extensions.Options;

namespace Sluice.Server.Settings;

/// <summary>Makes an option record from the values in force, which are valid, so that nothing can fail here.</summary>
internal sealed class SettingsOptionsFactory<TOptions>(SettingsConfiguration configuration, Func<EffectiveSettings, TOptions> read)
    : IOptionsFactory<TOptions>
    where TOptions : class
{
    /// <inheritdoc/>
    public TOptions Create(string name) => read(configuration.Current);
}
