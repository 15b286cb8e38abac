using Microsoft.Extensions.Options;

namespace Sluice.Server.Tests.Auth;

/// <summary>Options that a test changes.</summary>
internal sealed class FixedOptions<T>(T value) : IOptionsMonitor<T>
{
    private Action<T, string?>? _changed;

    public T CurrentValue { get; private set; } = value;

    public T Get(string? name) => CurrentValue;

    public IDisposable? OnChange(Action<T, string?> listener)
    {
        _changed += listener;
        return null;
    }

    public void Change(T value)
    {
        CurrentValue = value;
        _changed?.Invoke(value, null);
    }
}
