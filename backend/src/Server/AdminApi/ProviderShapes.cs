using System.Text.Json.Serialization;
using Sluice.Server.Providers;

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
/// A configured provider. Its id survives changes. <c>BytesPerSecond</c> is the rate since the previous request. <c>MissPercent</c> is the share of requested
/// articles that it lacks, <c>LatencyMs</c> the median of its latest replies; both are null until there is data.
/// </summary>
internal sealed record ProviderRow(
    string Id, string Name, string Host, int Port, bool Tls, bool SkipsCertificateCheck, string User, bool HasPassword, ProviderUseKind Use,
    int Priority, string Backbone, ProviderCondition Condition, string? Sentence, ProviderConnections Connections, long BytesPerSecond,
    long BytesToday, long BytesTotal, ProviderLanes LanesToday, ProviderLanes LanesTotal, double? MissPercent, double? LatencyMs);

/// <summary>The providers in order of use. <c>Locked</c> names the environment variable that sets them; null if they can be changed.</summary>
internal sealed record ProviderRows(IReadOnlyList<ProviderRow> Items, string? Locked);

/// <summary>
/// A provider to save. A null password keeps the saved one if host, port, TLS and user are unchanged (S19). A null name defaults to the host.
/// </summary>
internal sealed record ProviderSave(
    string Host, int Port, bool Tls, string User, string? Password, int MaxConnections, string? Name = null,
    ProviderUseKind Use = ProviderUseKind.Primary, int Priority = 0, string? Backbone = null, bool SkipsCertificateCheck = false) : IJsonBody<ProviderSave>;

/// <summary>Which stored state of a provider to reset.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderMemoryKind>))]
internal enum ProviderMemoryKind
{
    /// <summary>Its failures, so that it is used again immediately.</summary>
    Breaker,

    /// <summary>The connection limit that it was found to enforce.</summary>
    Cap,

    /// <summary>Its traffic counters.</summary>
    Bytes,
}

internal sealed record ProviderReset(ProviderMemoryKind What) : IJsonBody<ProviderReset>;

/// <summary>A provider to test. If the password is null, the password saved under this id is used.</summary>
internal sealed record ProviderTest(
    string? Id, string Host, int Port, bool Tls, string User, string? Password, bool SkipsCertificateCheck = false, int? MaxConnections = null) : IJsonBody<ProviderTest>;
