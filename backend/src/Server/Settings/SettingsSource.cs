using Microsoft.Extensions.Primitives;

namespace Sluice.Server.Settings;

/// <summary>
/// The settings in force. The store applies a saved value here, and every <c>IOptionsMonitor</c> follows at once (CFG-5). They are no
/// part of the framework's configuration, which holds everything as text that any component may list.
/// </summary>
/// <remarks>Thread-safe; applied by one writer at a time.</remarks>
internal sealed class SettingsSource(SettingsResolver resolver)
{
    private volatile EffectiveSettings _current = resolver.Resolve(new Dictionary<string, string>());
    private ConfigurationReloadToken _change = new();
    private long _version;

    /// <summary>The values in force; those of the environment and the defaults until the store has loaded.</summary>
    public EffectiveSettings Current => _current;

    /// <summary>Counts the changes since the start.</summary>
    public long Version => Interlocked.Read(ref _version);

    /// <summary>A token that fires at the next change.</summary>
    public IChangeToken GetChangeToken() => Volatile.Read(ref _change);

    /// <summary>Puts saved values in force and fires the change token.</summary>
    /// <param name="saved">In plain text by key.</param>
    /// <param name="locked">The keys of those that cannot be decrypted; null for none.</param>
    public void Apply(IReadOnlyDictionary<string, string> saved, IReadOnlySet<string>? locked = null)
    {
        _current = resolver.Resolve(saved, locked);
        Interlocked.Increment(ref _version);
        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }
}
