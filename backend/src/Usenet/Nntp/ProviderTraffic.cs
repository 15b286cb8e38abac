using System.Collections.Concurrent;

namespace Sluice.Usenet.Nntp;

/// <summary>Usage of a provider.</summary>
/// <param name="Bytes">Bytes received, before TLS: replies, bodies and terminators.</param>
/// <param name="Tried">Requested articles that it answered, with a body or a miss.</param>
/// <param name="Found">How many of them it sent.</param>
public readonly record struct ProviderUse(long Bytes, long Tried, long Found)
{
    public static ProviderUse operator +(ProviderUse left, ProviderUse right) =>
        new(left.Bytes + right.Bytes, left.Tried + right.Tried, left.Found + right.Found);

    public static ProviderUse operator -(ProviderUse left, ProviderUse right) =>
        new(left.Bytes - right.Bytes, left.Tried - right.Tried, left.Found - right.Found);
}

/// <summary>Counts the usage of one provider, over all connections of its account.</summary>
/// <remarks>Thread-safe: the counters grow atomically but independently, so a reader may see one ahead of another.</remarks>
internal sealed class ProviderTraffic
{
    private long _bytes;
    private long _tried;
    private long _found;

    public ProviderUse Use => new(Volatile.Read(ref _bytes), Volatile.Read(ref _tried), Volatile.Read(ref _found));

    public void Received(long bytes) => Interlocked.Add(ref _bytes, bytes);

    public void Answered(bool isFound)
    {
        Interlocked.Increment(ref _tried);
        if (isFound)
            Interlocked.Increment(ref _found);
    }
}

/// <summary>Usage counters of all providers by id. They outlive the accounts, so that the usage of a removed provider is kept.</summary>
/// <remarks>Thread-safe. Grows with the number of providers seen since startup.</remarks>
internal sealed class ProviderTraffics
{
    private readonly ConcurrentDictionary<Guid, ProviderTraffic> _all = new();

    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _all.ToDictionary(pair => pair.Key, pair => pair.Value.Use);

    public ProviderTraffic Of(Guid provider) => _all.GetOrAdd(provider, _ => new ProviderTraffic());
}
