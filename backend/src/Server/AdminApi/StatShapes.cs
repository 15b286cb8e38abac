using System.Text.Json.Serialization;
using Sluice.Server.Playbacks;

namespace Sluice.Server.AdminApi;

/// <summary>What the server does at one moment.</summary>
/// <param name="At">The moment.</param>
/// <param name="FromProviders">Bytes per second from providers.</param>
/// <param name="ToPlayers">Bytes per second to clients.</param>
/// <param name="FromCache">Those of them that were in memory or on disk.</param>
/// <param name="Streams">Playbacks that are being read.</param>
/// <param name="ConnectionsUsed">Connections that owe a reply.</param>
/// <param name="ConnectionsMax">Connections that the settings allow.</param>
internal sealed record StatSample(
    DateTimeOffset At, long FromProviders, long ToPlayers, long FromCache, int Streams, int ConnectionsUsed, int ConnectionsMax);

/// <summary>Figures of the last ten minutes.</summary>
/// <param name="CacheHitPercent">Segments that were in memory or on disk; null before the first.</param>
/// <param name="FirstByteP50">Median time to the first byte of a request, in ms; null before the first.</param>
/// <param name="FirstByteP95">95th percentile likewise.</param>
/// <param name="LimitBytesPerSecond">The limit of bandwidth in force; null for none.</param>
/// <param name="QueueItems">Items of the queue.</param>
/// <param name="ReleaseCount">Releases in the library.</param>
internal sealed record StatFigures(
    double? CacheHitPercent, double? FirstByteP50, double? FirstByteP95, long? LimitBytesPerSecond, long QueueItems, long ReleaseCount);

/// <summary>How much is wrong.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<AttentionLevel>))]
internal enum AttentionLevel
{
    /// <summary>Something does not work.</summary>
    Error,

    /// <summary>Something will not work, or works worse than it could.</summary>
    Warning,
}

/// <summary>What is to be looked at.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<AttentionKind>))]
internal enum AttentionKind
{
    /// <summary>There is no provider.</summary>
    NoProvider,

    /// <summary>A provider fails; the target is its id.</summary>
    ProviderFails,

    /// <summary>The disk is full or cannot be written to.</summary>
    Storage,

    /// <summary>The database is not used; everything is read from memory.</summary>
    SafeMode,

    /// <summary>Settings are locked, because their key file is lost.</summary>
    SecretKey,

    /// <summary>The tree is open to every client.</summary>
    OpenTree,

    /// <summary>A connected program cannot be reached or does not see the files; the target is its id.</summary>
    Arr,

    /// <summary>The watch folder cannot be read.</summary>
    WatchFolder,

    /// <summary>A setting was left out because it cannot be used; the target is its key.</summary>
    Setting,

    /// <summary>A warning of the log; the target is its number.</summary>
    Log,
}

/// <summary>Something to look at.</summary>
/// <param name="Kind">What kind of thing, which decides on the button beside it.</param>
/// <param name="Level">How much is wrong.</param>
/// <param name="Sentence">What is wrong.</param>
/// <param name="Target">What it is about; null where the kind says all.</param>
/// <param name="Since">Since when; null where that is not known.</param>
internal sealed record AttentionRow(AttentionKind Kind, AttentionLevel Level, string Sentence, string? Target, DateTimeOffset? Since);

/// <summary>How far the first evening has come; the overview shows it until all three are there, then never again.</summary>
/// <param name="HasProvider">Whether there is a provider.</param>
/// <param name="HasPlayed">Whether a file was ever played.</param>
/// <param name="HasApp">Whether a program is connected or has called.</param>
internal sealed record FirstSteps(bool HasProvider, bool HasPlayed, bool HasApp);

/// <summary>What the overview shows.</summary>
/// <param name="Now">This moment.</param>
/// <param name="Figures">The last ten minutes.</param>
/// <param name="Window">Over how long samples are shown.</param>
/// <param name="Samples">The window, the oldest first; parts without a sample are left out.</param>
/// <param name="Attention">What is to be looked at, the worst first.</param>
/// <param name="Steps">How far the first evening has come.</param>
/// <param name="Seq">Events up to this number are in it.</param>
internal sealed record Stats(
    StatSample Now, StatFigures Figures, SampleWindow Window, IReadOnlyList<StatSample> Samples, IReadOnlyList<AttentionRow> Attention, FirstSteps Steps, long Seq);

/// <summary>How figures stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(Stats))]
internal sealed partial class StatsJson : JsonSerializerContext;
