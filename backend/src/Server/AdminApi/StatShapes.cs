using Sluice.Server.Diagnostics;
using Sluice.Server.Playbacks;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Rates in bytes per second at one moment. <c>FromCache</c> is the part of <c>ToPlayers</c> from memory or disk; used connections owe a reply.
/// </summary>
internal sealed record StatSample(
    DateTimeOffset At, long FromProviders, long ToPlayers, long FromCache, int Streams, int ConnectionsUsed, int ConnectionsMax);

/// <summary>
/// Figures of the last ten minutes. Times to the first byte are the median and the 95th percentile in ms. Values are null until there is data, and
/// the bandwidth limit is null if there is none.
/// </summary>
internal sealed record StatFigures(
    double? CacheHitPercent, double? FirstByteP50, double? FirstByteP95, long? LimitBytesPerSecond, long QueueItems, long ReleaseCount);

/// <summary>First steps of a new user: a provider, a played file, a connected program. The overview hides them for good once all are done.</summary>
internal sealed record FirstSteps(bool HasProvider, bool HasPlayed, bool HasApp);

/// <summary>The overview: samples of the window, the oldest first and without gaps filled, and problems, the most serious first.</summary>
internal sealed record Stats(
    StatSample Now, StatFigures Figures, SampleWindow Window, IReadOnlyList<StatSample> Samples, IReadOnlyList<AttentionRow> Attention, FirstSteps Steps, long Seq);
