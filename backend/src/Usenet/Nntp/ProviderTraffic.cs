using System.Collections.Concurrent;

namespace Sluice.Usenet.Nntp;

/// <summary>What a provider has been used for.</summary>
/// <param name="Bytes">Bytes received, before TLS: replies, bodies and terminators.</param>
/// <param name="Tried">Articles that it was asked for and has answered for.</param>
/// <param name="Found">Those of them that it has sent.</param>
public readonly record struct ProviderUse(long Bytes, long Tried, long Found)
{
    /// <summary>The sum of two.</summary>
    public static ProviderUse operator +(ProviderUse left, ProviderUse right) =>
        new(left.Bytes + right.Bytes, left.Tried + right.Tried, left.Found + right.Found);

    /// <summary>What came between two.</summary>
    public static ProviderUse operator -(ProviderUse left, ProviderUse right) =>
        new(left.Bytes - right.Bytes, left.Tried - right.Tried, left.Found - right.Found);
}

/// <summary>Counts what one provider is used for, over all connections of its account.</summary>
/// <remarks>Thread-safe: each number grows by atomic additions, and a reader may see one of them a step ahead of another.</remarks>
internal sealed class ProviderTraffic
{
    private long _bytes;
    private long _tried;
    private long _found;

    /// <summary>What has been counted so far.</summary>
    public ProviderUse Use => new(Volatile.Read(ref _bytes), Volatile.Read(ref _tried), Volatile.Read(ref _found));

    /// <summary>Replies, bodies and terminators have come.</summary>
    public void Received(long bytes) => Interlocked.Add(ref _bytes, bytes);

    /// <summary>An article has come, or the provider has said that it does not have it.</summary>
    public void Answered(bool isFound)
    {
        Interlocked.Increment(ref _tried);
        if (isFound)
            Interlocked.Increment(ref _found);
    }
}

/// <summary>The counts of all providers of the process by their ids. They outlive the accounts, so that nothing of a removed provider is lost.</summary>
/// <remarks>Thread-safe. Grows with the providers that the settings have named since the start.</remarks>
internal sealed class ProviderTraffics
{
    private readonly ConcurrentDictionary<Guid, ProviderTraffic> _all = new();

    /// <summary>What each provider has been used for since the start.</summary>
    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _all.ToDictionary(pair => pair.Key, pair => pair.Value.Use);

    /// <summary>The counts of a provider.</summary>
    public ProviderTraffic Of(Guid provider) => _all.GetOrAdd(provider, _ => new ProviderTraffic());
}
