namespace Sluice.Server.Settings;

/// <summary>
/// The settings in force as a configuration source: section <c>settings</c>, one entry per key. Whoever saves a value applies
/// it here, and every <c>IOptionsMonitor</c> follows at once (CFG-5).
/// </summary>
/// <remarks>Thread-safe; applied by one writer at a time.</remarks>
internal sealed class SettingsConfiguration : ConfigurationProvider, IConfigurationSource
{
    private readonly SettingsResolver _resolver;
    private volatile EffectiveSettings _current;

    /// <summary>Starts with what the environment and the defaults say; saved values come when the database is open.</summary>
    public SettingsConfiguration(SettingsResolver resolver)
    {
        _resolver = resolver;
        _current = resolver.Resolve(new Dictionary<string, string>());
    }

    /// <summary>The values in force.</summary>
    public EffectiveSettings Current => _current;

    /// <summary>Takes the saved values, in plain text by key, and tells everybody who watches.</summary>
    public void Apply(IReadOnlyDictionary<string, string> saved)
    {
        _current = _resolver.Resolve(saved);
        Load();
        OnReload();
    }

    /// <inheritdoc/>
    public override void Load() =>
        Data = _current.All.ToDictionary(setting => "settings:" + setting.Definition.Key, setting => (string?)setting.Value);

    /// <inheritdoc/>
    public IConfigurationProvider Build(IConfigurationBuilder builder) => this;
}
