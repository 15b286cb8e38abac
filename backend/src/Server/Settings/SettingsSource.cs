using Microsoft.Extensions.Primitives;

namespace Sluice.Server.Settings;

/// <summary>
/// The effective settings. The store applies saved values here, and every <c>IOptionsMonitor</c> follows at once (CFG-5). They stay out of the
/// framework's configuration, because any component could list their text there.
/// </summary>
/// <remarks>Thread-safe for readers; only one writer at a time may apply values.</remarks>
internal sealed class SettingsSource(SettingsResolver resolver)
{
    private volatile EffectiveSettings _current = resolver.Resolve(new Dictionary<string, string>());
    private ConfigurationReloadToken _change = new();
    private long _version;

    /// <summary>The effective values. Only environment and defaults until the store has loaded.</summary>
    public EffectiveSettings Current => _current;

    public long Version => Interlocked.Read(ref _version);

    public IChangeToken GetChangeToken() => Volatile.Read(ref _change);

    /// <summary>
    /// Applies saved plain-text values and fires the change token. <paramref name="locked"/> names values that cannot be decrypted.
    /// </summary>
    public void Apply(IReadOnlyDictionary<string, string> saved, IReadOnlySet<string>? locked = null)
    {
        _current = resolver.Resolve(saved, locked);
        Interlocked.Increment(ref _version);
        Interlocked.Exchange(ref _change, new ConfigurationReloadToken()).OnReload();
    }
}
