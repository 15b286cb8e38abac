using System.Collections.Concurrent;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp;

/// <summary>The purpose for which bytes were received.</summary>
public enum TrafficLane : byte
{
    /// <summary>Articles for viewers and downloads, including prefetched ones.</summary>
    Playback,

    /// <summary>Articles and replies for imports.</summary>
    Import,

    /// <summary>Articles and replies for background checks.</summary>
    Checks,

    /// <summary>Greetings, logins, keep-alives, account tests, and bytes that answer no command.</summary>
    Other,
}

/// <summary>Bytes received by purpose, without the overhead of TLS: replies, bodies and terminators.</summary>
public readonly record struct LaneBytes(long Playback, long Import, long Checks, long Other)
{
    public long Total => Playback + Import + Checks + Other;

    public static LaneBytes operator +(LaneBytes left, LaneBytes right) =>
        new(left.Playback + right.Playback, left.Import + right.Import, left.Checks + right.Checks, left.Other + right.Other);

    public static LaneBytes operator -(LaneBytes left, LaneBytes right) =>
        new(left.Playback - right.Playback, left.Import - right.Import, left.Checks - right.Checks, left.Other - right.Other);
}

/// <summary>Usage of a provider.</summary>
/// <param name="Lanes">Bytes received, by purpose.</param>
/// <param name="Tried">Number of requested articles that the provider answered with a body or a miss.</param>
/// <param name="Found">Number of those articles that the provider sent.</param>
public readonly record struct ProviderUse(LaneBytes Lanes, long Tried, long Found)
{
    public long Bytes => Lanes.Total;

    public static ProviderUse operator +(ProviderUse left, ProviderUse right) =>
        new(left.Lanes + right.Lanes, left.Tried + right.Tried, left.Found + right.Found);

    public static ProviderUse operator -(ProviderUse left, ProviderUse right) =>
        new(left.Lanes - right.Lanes, left.Tried - right.Tried, left.Found - right.Found);
}

/// <summary>Counts the usage of one provider, across all connections of its account. Each counted byte also counts in the meter.</summary>
/// <remarks>
/// Thread-safe: the counters grow atomically but independently, so a reader may see one ahead of another. Counting allocates nothing.
/// </remarks>
internal sealed class ProviderTraffic(NntpMeter meter)
{
    private long _playback;
    private long _import;
    private long _checks;
    private long _other;
    private long _tried;
    private long _found;

    public ProviderUse Use => new(
        new LaneBytes(Volatile.Read(ref _playback), Volatile.Read(ref _import), Volatile.Read(ref _checks), Volatile.Read(ref _other)),
        Volatile.Read(ref _tried),
        Volatile.Read(ref _found));

    /// <summary>Time from the command for an article to the first line of its body, if nothing else was outstanding on the connection.</summary>
    public DurationHistogram FirstBytes { get; } = new(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);

    public void Received(TrafficLane lane, long bytes)
    {
        switch (lane)
        {
            case TrafficLane.Playback:
                Interlocked.Add(ref _playback, bytes);
                break;
            case TrafficLane.Import:
                Interlocked.Add(ref _import, bytes);
                break;
            case TrafficLane.Checks:
                Interlocked.Add(ref _checks, bytes);
                break;
            default:
                Interlocked.Add(ref _other, bytes);
                break;
        }

        meter.Received(bytes);
    }

    public void Answered(bool isFound)
    {
        Interlocked.Increment(ref _tried);
        if (isFound)
            Interlocked.Increment(ref _found);
    }
}

/// <summary>Usage counters of all providers by id. They outlive the accounts, so that the usage of a removed provider is kept.</summary>
/// <remarks>Thread-safe. Grows with the number of providers seen since startup.</remarks>
internal sealed class ProviderTraffics(NntpMeter meter)
{
    private readonly ConcurrentDictionary<Guid, ProviderTraffic> _all = new();

    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _all.ToDictionary(pair => pair.Key, pair => pair.Value.Use);

    public IReadOnlyDictionary<Guid, HistogramSnapshot> FirstBytes => _all.ToDictionary(pair => pair.Key, pair => pair.Value.FirstBytes.Snapshot());

    public ProviderTraffic Of(Guid provider) => _all.GetOrAdd(provider, _ => new ProviderTraffic(meter));
}
