using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>Shared by the connection pools of all accounts, and owned by the accounts.</summary>
/// <remarks>Thread-safe. Tests without sockets replace <see cref="NntpDialer"/> by <c>dial</c>. The bandwidth limiter is not owned.</remarks>
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
