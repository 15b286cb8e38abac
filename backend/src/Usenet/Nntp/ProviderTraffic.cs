using System.Collections.Concurrent;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp;

/// <summary>The purpose for which bytes were received (OPS-42).</summary>
public enum TrafficLane : byte
{
    /// <summary>Articles for viewers and downloads, including prefetched ones.</summary>
    Playback,

    /// <summary>Articles for a client that only scans a file, as Plex does: the owner of its <see cref="ReaderAccount"/> decides that by what was read.</summary>
    Scans,

    /// <summary>Articles and replies for imports.</summary>
    Import,

    /// <summary>Articles and replies for background checks.</summary>
    Checks,

    /// <summary>Greetings, logins, keep-alives, account tests, bytes that answer no command, and what the server reads of a film for its own pages.</summary>
    Other,

    /// <summary>Articles for readers of which it is not known yet whether they play or scan. The bytes move to one of the two lanes.</summary>
    Undecided,
}

/// <summary>Bytes received by purpose, without the overhead of TLS: replies, bodies and terminators.</summary>
public readonly record struct LaneBytes(long Playback, long Scans, long Import, long Checks, long Other, long Undecided = 0)
{
    public long Total => Playback + Scans + Import + Checks + Other + Undecided;

    public static LaneBytes operator +(LaneBytes left, LaneBytes right) => new(
        left.Playback + right.Playback,
        left.Scans + right.Scans,
        left.Import + right.Import,
        left.Checks + right.Checks,
        left.Other + right.Other,
        left.Undecided + right.Undecided);

    public static LaneBytes operator -(LaneBytes left, LaneBytes right) => new(
        left.Playback - right.Playback,
        left.Scans - right.Scans,
        left.Import - right.Import,
        left.Checks - right.Checks,
        left.Other - right.Other,
        left.Undecided - right.Undecided);
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
internal sealed class ProviderTraffic(NntpMeter meter, Guid provider = default)
{
    private readonly long[] _received = new long[Enum.GetValues<TrafficLane>().Length];
    private long _tried;
    private long _found;
    private long _charged;

    /// <summary>Bytes charged to the data cap: the value of <see cref="SetCharged"/>, and all bytes received since then.</summary>
    public long Charged => Volatile.Read(ref _charged);

    /// <summary>The settings entry that is counted; empty for the test of an account that has none.</summary>
    public Guid Provider => provider;

    public ProviderUse Use => new(
        new LaneBytes(
            ReceivedFor(TrafficLane.Playback),
            ReceivedFor(TrafficLane.Scans),
            ReceivedFor(TrafficLane.Import),
            ReceivedFor(TrafficLane.Checks),
            ReceivedFor(TrafficLane.Other),
            ReceivedFor(TrafficLane.Undecided)),
        Volatile.Read(ref _tried),
        Volatile.Read(ref _found));

    /// <summary>Time from the command for an article to the first line of its body, if nothing else was outstanding on the connection.</summary>
    public DurationHistogram FirstBytes { get; } = new(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10);

    /// <summary>Counts bytes for the data cap and for their lane, and charges them to the account of their reader.</summary>
    public void Received(Payer payer, long bytes)
    {
        if (bytes == 0)
            return;
        AddCharged(bytes);
        if (payer.Account is { } account)
            account.Charge(this, bytes);
        else
            Add(payer.Lane, bytes);
        meter.Received(bytes);
    }

    /// <summary>Counts bytes for a lane. Called by an account under its lock, so that its sum and the lane agree.</summary>
    public void Add(TrafficLane lane, long bytes) => Interlocked.Add(ref _received[(int)lane], bytes);

    /// <summary>Sets the charged bytes as of now; negative after a refill.</summary>
    public void SetCharged(long bytes) => Interlocked.Exchange(ref _charged, bytes);

    public void AddCharged(long bytes) => Interlocked.Add(ref _charged, bytes);

    public void Answered(bool isFound)
    {
        Interlocked.Increment(ref _tried);
        if (isFound)
            Interlocked.Increment(ref _found);
    }

    private long ReceivedFor(TrafficLane lane) => Volatile.Read(ref _received[(int)lane]);
}

/// <summary>Usage counters of all providers by id. They outlive the accounts, so that the usage of a removed provider is kept.</summary>
/// <remarks>Thread-safe. Grows with the number of providers seen since startup.</remarks>
internal sealed class ProviderTraffics(NntpMeter meter)
{
    private readonly ConcurrentDictionary<Guid, ProviderTraffic> _all = new();

    public IReadOnlyDictionary<Guid, ProviderUse> Uses => _all.ToDictionary(pair => pair.Key, pair => pair.Value.Use);

    public IReadOnlyDictionary<Guid, HistogramSnapshot> FirstBytes => _all.ToDictionary(pair => pair.Key, pair => pair.Value.FirstBytes.Snapshot());

    public ProviderTraffic Of(Guid provider) => _all.GetOrAdd(provider, id => new ProviderTraffic(meter, id));
}
