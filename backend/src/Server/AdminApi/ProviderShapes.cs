using System.Text.Json.Serialization;
using Sluice.Server.Providers;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.AdminApi;

/// <summary>How a provider is used.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderUseKind>))]
internal enum ProviderUseKind
{
    Primary,

    /// <summary>Used only for articles that the primary providers lack.</summary>
    Backup,
    Disabled,
}

/// <summary>
/// An account's connections: <c>Connecting</c> counts those opening or closing, <c>Busy</c> those waiting for a reply. <c>Cap</c> is the limit that the
/// provider enforces; null unless known to be below <c>Max</c>.
/// </summary>
internal sealed record ProviderConnections(int Connecting, int Idle, int Busy, int Max, int? Cap);

/// <summary>
/// Received bytes by purpose. The first bytes of a reader count as playback until it turns out to be a scan. <c>Other</c> covers logins, keep-alives,
/// tests, subtitles and previews, and all bytes from days before Sluice recorded the purpose.
/// </summary>
internal sealed record ProviderLanes(long Playback, long Scans, long Import, long Checks, long Other);

/// <summary>
/// The data cap of a provider, and its use in the current period. <c>Limit</c> includes all refills; <c>ByteLimit</c> is the saved cap. <c>Lanes</c> are
/// the used bytes by purpose. <c>BytesPerDay</c> is the average of the last 14 days. <c>LastsUntil</c> is the day on which the cap will be used
/// up at that rate; null if it lasts until the reset, or longer than ten years. <c>NextReset</c> and <c>DaysUntilReset</c> are null for a block. Days are
/// local days of the server.
/// </summary>
internal sealed record ProviderQuota(
    long ByteLimit, int ResetDay, int ReservePercent, QuotaState State, long Limit, long Used, long Left, ProviderLanes Lanes, long BytesPerDay,
    DateOnly? LastsUntil, DateOnly? NextReset, int? DaysUntilReset);

/// <summary>
/// A data cap to save. A <c>ByteLimit</c> of 0 removes the cap. A null <c>ReservePercent</c> means 20 for a primary provider with a reset day, otherwise 0.
/// <c>UsedBefore</c> sets the used bytes as of now; null keeps the count.
/// </summary>
internal sealed record ProviderQuotaSave(long ByteLimit, int ResetDay = 0, int? ReservePercent = null, long? UsedBefore = null);

/// <summary>
/// A configured provider. Its id survives changes. <c>BytesPerSecond</c> is the rate since the previous request. <c>MissPercent</c> is the share of requested
/// articles that it lacks, <c>LatencyMs</c> the median of its latest replies; both are null until there is data.
/// </summary>
internal sealed record ProviderRow(
    string Id, string Name, string Host, int Port, bool Tls, bool SkipsCertificateCheck, string User, bool HasPassword, ProviderUseKind Use,
    int Priority, string Backbone, ProviderCondition Condition, string? Sentence, ProviderConnections Connections, long BytesPerSecond,
    long BytesToday, long BytesTotal, ProviderLanes LanesToday, ProviderLanes LanesTotal, double? MissPercent, double? LatencyMs,
    ProviderQuota? Quota);

/// <summary>The providers in order of use. <c>Locked</c> names the environment variable that sets them; null if they can be changed.</summary>
internal sealed record ProviderRows(IReadOnlyList<ProviderRow> Items, string? Locked);

/// <summary>
/// A provider to save. A null password keeps the saved one if host, port, TLS and user are unchanged (S19). A null name defaults to the host. A null quota
/// keeps the saved data cap.
/// </summary>
internal sealed record ProviderSave(
    string Host, int Port, bool Tls, string User, string? Password, int MaxConnections, string? Name = null,
    ProviderUseKind Use = ProviderUseKind.Primary, int Priority = 0, string? Backbone = null, bool SkipsCertificateCheck = false,
    ProviderQuotaSave? Quota = null) : IJsonBody<ProviderSave>;

/// <summary>Which stored state of a provider to reset.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderMemoryKind>))]
internal enum ProviderMemoryKind
{
    /// <summary>Its failures, so that it is used again immediately.</summary>
    Breaker,

    /// <summary>The connection limit that it was found to enforce.</summary>
    Cap,

    /// <summary>Its traffic counters, and the used bytes of its data cap.</summary>
    Bytes,
}

internal sealed record ProviderReset(ProviderMemoryKind What) : IJsonBody<ProviderReset>;

/// <summary>Bytes to add to a block, or to the current period; at least 1.</summary>
internal sealed record ProviderRefill(long Bytes) : IJsonBody<ProviderRefill>;

/// <summary>A provider to test. If the password is null, the password saved under this id is used.</summary>
internal sealed record ProviderTest(
    string? Id, string Host, int Port, bool Tls, string User, string? Password, bool SkipsCertificateCheck = false, int? MaxConnections = null) : IJsonBody<ProviderTest>;
