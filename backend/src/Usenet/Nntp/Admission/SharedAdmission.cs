using Microsoft.Extensions.Logging;
using Sluice.Usenet.Nntp.Health;

namespace Sluice.Usenet.Nntp.Admission;

/// <summary>Shared by the gates of all accounts: the limits of the process, the options, the memory and the clock.</summary>
/// <remarks>Thread-safe. The bandwidth limiter is not owned.</remarks>
internal class SharedAdmission(
    NntpOptions options,
    GlobalOperationLimiter limiter,
    HandshakeLimit handshakes,
    ProviderMemory memory,
    TimeProvider time,
    ILogger logger,
    BandwidthLimiter? bandwidth)
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

    public ProviderMemory Memory => memory;

    public TimeProvider Time => time;

    public ILogger Logger => logger;
}
