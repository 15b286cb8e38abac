using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Admission;
using Sluice.Usenet.Nntp.Health;
using Sluice.Usenet.Nntp.Wire;
using Sluice.Usenet.Primitives;

namespace Sluice.Usenet.Nntp.Connections;

/// <summary>Resources that the connection pools of all accounts share. The accounts own them.</summary>
/// <remarks>Thread-safe. Tests without sockets replace <see cref="NntpDialer"/> with <c>dial</c>.</remarks>
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
    BandwidthLimiter? bandwidth = null,
    DeadlineGrid? deadlines = null,
    GatheringBeat? beat = null)
    : SharedAdmission(options, limiter, handshakes, memory, time, logger, bandwidth)
{
    public NntpMeter Meter => meter;

    public ProviderTraffics Traffics { get; } = new(meter);

    /// <summary>The timer that all connections share.</summary>
    public DeadlineGrid Deadlines { get; } = deadlines ?? new DeadlineGrid(time);

    /// <summary>Ends the gathering of connections that fall silent; null if connections pass on each piece.</summary>
    public GatheringBeat? Beat => beat;

    public RecoverySignal Recovery { get; } = new();

    public INameResolver? Names => names;

    public Func<ProviderOptions, CancellationToken, Task<NntpTransport>>? Dial => dial;
}
