using Microsoft.Extensions.Primitives;

namespace Sluice.Server.Settings;

/// <summary>
/// The effective settings. The store applies saved values here, which immediately updates every <c>IOptionsMonitor</c> (CFG-5). They are not in the .NET
/// configuration, because any component could read the secrets there. Reads are thread-safe. Calls to <see cref="Apply"/> must not overlap.
/// </summary>
internal sealed class SettingsSource(SettingsResolver resolver)
{
    private volatile EffectiveSettings _current = resolver.Resolve(new Dictionary<string, string>());
    private ConfigurationReloadToken _change = new();
    private long _version;

    /// <summary>The effective values. Before the store is loaded, they reflect only environment and defaults.</summary>
    public EffectiveSettings Current => _current;

    public long Version => Interlocked.Read(ref _version);

    public IChangeToken GetChangeToken() => Volatile.Read(ref _change);

    /// <summary>Applies saved plain-text values and notifies listeners. Values of <paramref name="locked"/> settings cannot be decrypted.</summary>
    public void Apply(IReadOnlyDictionary<string, string> saved, IReadOnlySet<string>? locked = null)
    {
        _current = resolver.Resolve(saved, locked);
        Interlocked.Increment(ref _version);
        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }
}
