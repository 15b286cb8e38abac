using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>What the connection pools of all accounts share. Owned by the accounts.</summary>
/// <param name="options">Deadlines and ceilings as they are at first.</param>
/// <param name="limiter">Permits of the whole process.</param>
/// <param name="handshakes">Handshakes that may be under way at a time, at all providers together.</param>
/// <param name="meter">Counts.</param>
/// <param name="memory">What has been learned about the providers.</param>
/// <param name="time">Clock.</param>
/// <param name="logger">Where faults are noted.</param>
/// <param name="names">Finds the addresses of servers.</param>
/// <param name="dial">Opens and logs in a connection in place of <see cref="NntpDialer"/>, for tests without sockets; null: nothing does.</param>
/// <param name="bandwidth">Paces the commands of all; not owned. Null: nothing does.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed class SharedResources(
    NntpOptions options,
    GlobalOperationLimiter limiter,
    HandshakeLimit handshakes,
    NntpMeter meter,
    ProviderMemory memory,
    TimeProvider time,
    ILogger logger,
    INameResolver? names = null,
    Func<ProviderOptions, CancellationToken, Task<NntpTransport>>? dial = null,
    BandwidthLimiter? bandwidth = null)
{
    private volatile NntpOptions _options = options;

    /// <summary>Deadlines and ceilings. A change of settings replaces them as a whole; a connection keeps those with which it was opened.</summary>
    public NntpOptions Options
    {
        get => _options;
        set => _options = value;
    }

    public GlobalOperationLimiter Limiter => limiter;

    public BandwidthLimiter Bandwidth { get; } = bandwidth ?? new BandwidthLimiter(time);

    public HandshakeLimit Handshakes => handshakes;

    public NntpMeter Meter => meter;

    public ProviderTraffics Traffics { get; } = new();

    public ProviderMemory Memory => memory;

    public RecoverySignal Recovery { get; } = new();

    public TimeProvider Time => time;

    public ILogger Logger => logger;

    public INameResolver? Names => names;

    public Func<ProviderOptions, CancellationToken, Task<NntpTransport>>? Dial => dial;
}
