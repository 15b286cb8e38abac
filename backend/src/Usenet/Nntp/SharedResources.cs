using Microsoft.Extensions.Logging;

namespace Sluice.Usenet.Nntp;

/// <summary>What the connection pools of all providers share. Owned by the pool of providers.</summary>
/// <param name="Options">Deadlines and ceilings.</param>
/// <param name="Limiter">Permits of the whole process.</param>
/// <param name="Handshakes">Handshakes that may be under way at a time, at all providers together.</param>
/// <param name="Meter">Counts.</param>
/// <param name="Memory">What has been learned about the providers.</param>
/// <param name="Time">Clock.</param>
/// <param name="Logger">Where faults are noted.</param>
internal sealed record SharedResources(
    NntpOptions Options,
    GlobalOperationLimiter Limiter,
    SemaphoreSlim Handshakes,
    NntpMeter Meter,
    ProviderMemory Memory,
    TimeProvider Time,
    ILogger Logger);
