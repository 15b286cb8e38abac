using Microsoft.Extensions.Primitives;

namespace Sluice.Server.Backups;

/// <summary>A worker's state, and a token that fires when the state changes, so that pages can follow it.</summary>
/// <remarks>Thread-safe. Subscribers run on the thread that changes the state, outside the lock.</remarks>
internal sealed class WatchedState<T>(T initial)
    where T : class, IEquatable<T>
{
    // Guards both fields. No other lock is acquired while holding it.
    private readonly Lock _gate = new();
    private T _value = initial;
    private ConfigurationReloadToken _change = new();

    public T Value
    {
        get
        {
            lock (_gate)
                return _value;
        }
    }

    /// <summary>Fires once, at the next change.</summary>
    public IChangeToken GetChangeToken()
    {
        lock (_gate)
            return _change;
    }

    /// <summary>Replaces the value with the result of <paramref name="change"/>. An equal result does not fire the token.</summary>
    public void Change(Func<T, T> change)
    {
        ConfigurationReloadToken changed;
        lock (_gate)
        {
            var next = change(_value);
            if (next.Equals(_value))
                return;
            (_value, changed, _change) = (next, _change, new ConfigurationReloadToken());
        }

        changed.OnReload();
    }
}
