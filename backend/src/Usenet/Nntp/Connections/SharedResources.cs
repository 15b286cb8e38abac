using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>Shared by the connection pools of all accounts, and owned by the accounts.</summary>
/// <param name="options">Initial timeouts and limits.</param>
/// <param name="limiter">Permits of the whole process.</param>
/// <param name="handshakes">Limits the parallel handshakes at all providers together.</param>
/// <param name="meter">Metrics.</param>
/// <param name="memory">Learned facts about the providers.</param>
/// <param name="time">Clock.</param>
/// <param name="logger">Logs faults.</param>
/// <param name="names">Resolves host names.</param>
/// <param name="dial">Replaces <see cref="NntpDialer"/> in tests without sockets; otherwise null.</param>
/// <param name="bandwidth">Delays the commands of all pools; not owned. Null for no limit.</param>
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

    /// <summary>Timeouts and limits. A settings change replaces the whole object; a connection keeps the one it was opened with.</summary>
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
