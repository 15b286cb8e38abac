using Sluice.Server.Diagnostics;

namespace Sluice.Server.AdminApi;

/// <summary>
/// Rates in bytes per second at one moment. <c>FromCache</c> is the part of <c>ToPlayers</c> read from memory or disk. Used connections await a reply.
/// </summary>
internal sealed record StatSample(
    DateTimeOffset At, long FromProviders, long ToPlayers, long FromCache, int Streams, int ConnectionsUsed, int ConnectionsMax);

/// <summary>
/// Figures of the last ten minutes. Times to first byte are the median and the 95th percentile, in ms. Values are null until there is data; the bandwidth limit
/// is null if there is none.
/// </summary>
internal sealed record StatFigures(
    double? CacheHitPercent, double? FirstByteP50, double? FirstByteP95, long? LimitBytesPerSecond, long QueueItems, long ReleaseCount);

/// <summary>First steps of a new user: a provider, a played file, a connected program. Once all are done, the overview hides them permanently.</summary>
internal sealed record FirstSteps(bool HasProvider, bool HasPlayed, bool HasApp);

/// <summary>
/// Columns of a window, with one number per <c>Step</c> seconds starting at <c>Start</c>. Rates are in kB/s; <c>FromCache</c> is the part of <c>ToPlayers</c>
/// read from memory or disk; streams and connections are maximum concurrent numbers. The last point is incomplete.
/// </summary>
internal sealed record StatColumns(
    DateTimeOffset Start, int Step, IReadOnlyList<long> FromProviders, IReadOnlyList<long> ToPlayers, IReadOnlyList<long> FromCache, IReadOnlyList<int> Streams,
    IReadOnlyList<int> Connections);

/// <summary>The overview: a window's points, and problems, most serious first.</summary>
internal sealed record Stats(
    StatSample Now, StatFigures Figures, string Window, StatColumns Columns, IReadOnlyList<AttentionRow> Attention, FirstSteps Steps, long Seq);

/// <summary>One provider's traffic as rates in kB/s. <c>Id</c> may belong to a removed provider.</summary>
internal sealed record ProviderRates(string Id, IReadOnlyList<long> Rates);

/// <summary>Traffic per provider in a window, in columns as in <see cref="StatColumns"/>. Providers without traffic are absent.</summary>
internal sealed record ProviderTraffic(DateTimeOffset Start, int Step, IReadOnlyList<ProviderRates> Providers);
