using System.Text.Json.Serialization;
using Sluice.Server.Providers;

namespace Sluice.Server.AdminApi;

/// <summary>What a provider is used for.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderUseKind>))]
internal enum ProviderUseKind
{
    /// <summary>For every article.</summary>
    Primary,

    /// <summary>For articles that the others lack.</summary>
    Backup,

    /// <summary>For none.</summary>
    Disabled,
}

/// <summary>How a provider is.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderCondition>))]
internal enum ProviderCondition
{
    /// <summary>It can be used and has not failed.</summary>
    Ok,

    /// <summary>It has failed and is left alone for a while.</summary>
    Resting,

    /// <summary>It refuses the login, or is set up in a way that cannot work; it is tried again all the same.</summary>
    Refused,

    /// <summary>It is not used.</summary>
    Disabled,
}

/// <summary>Connections of an account.</summary>
/// <param name="Connecting">Being opened or closed.</param>
/// <param name="Idle">Open, and owing nothing.</param>
/// <param name="Busy">Owing a reply.</param>
/// <param name="Max">As many as the settings allow.</param>
/// <param name="Cap">As many as the provider was found to allow; null while that is not known to be fewer.</param>
internal sealed record ProviderConnections(int Connecting, int Idle, int Busy, int Max, int? Cap);

/// <summary>A provider of the settings with what is known of it.</summary>
/// <param name="Id">Its id, which it keeps when it is changed.</param>
/// <param name="Name">Its name for people.</param>
/// <param name="Host">Host name or address.</param>
/// <param name="Port">Port.</param>
/// <param name="Tls">Whether it is spoken to over TLS.</param>
/// <param name="SkipsCertificateCheck">Whether any certificate will do.</param>
/// <param name="User">The user; empty for none.</param>
/// <param name="HasPassword">Whether a password is saved.</param>
/// <param name="Use">What it is used for.</param>
/// <param name="Priority">Lower ones are asked first.</param>
/// <param name="Backbone">The store that it shares with others; empty where that is not known.</param>
/// <param name="Condition">How it is.</param>
/// <param name="Sentence">What is wrong, as a sentence; null where nothing is.</param>
/// <param name="Connections">Its connections.</param>
/// <param name="BytesPerSecond">What it has brought since it was looked at last.</param>
/// <param name="BytesToday">What it has brought today.</param>
/// <param name="BytesTotal">What it has brought in all.</param>
/// <param name="MissPercent">Of the articles that it was asked for, those that it lacks; null before the first.</param>
/// <param name="LatencyMs">From a command to the first byte of its reply, as the middle of the last few; null before the first.</param>
internal sealed record ProviderRow(
    string Id, string Name, string Host, int Port, bool Tls, bool SkipsCertificateCheck, string User, bool HasPassword, ProviderUseKind Use,
    int Priority, string Backbone, ProviderCondition Condition, string? Sentence, ProviderConnections Connections, long BytesPerSecond,
    long BytesToday, long BytesTotal, double? MissPercent, double? LatencyMs);

/// <summary>The providers of the settings.</summary>
/// <param name="Items">In the order in which they are asked.</param>
/// <param name="Locked">The environment variable that sets them, so that nothing can be changed here; null where none does.</param>
internal sealed record ProviderRows(IReadOnlyList<ProviderRow> Items, string? Locked);

/// <summary>A provider that is to be saved.</summary>
/// <param name="Host">Host name or address.</param>
/// <param name="Port">Port.</param>
/// <param name="Tls">Whether it is spoken to over TLS.</param>
/// <param name="User">The user; empty for none.</param>
/// <param name="Password">The password; null for the saved one, which stays only where host, port, TLS and user stay (S19).</param>
/// <param name="MaxConnections">Connections at most.</param>
/// <param name="Name">Its name for people; null for its host.</param>
/// <param name="Use">What it is used for.</param>
/// <param name="Priority">Lower ones are asked first.</param>
/// <param name="Backbone">The store that it shares with others; null or empty where that is not known.</param>
/// <param name="SkipsCertificateCheck">Whether any certificate will do.</param>
internal sealed record ProviderSave(
    string Host, int Port, bool Tls, string User, string? Password, int MaxConnections, string? Name = null,
    ProviderUseKind Use = ProviderUseKind.Primary, int Priority = 0, string? Backbone = null, bool SkipsCertificateCheck = false) : IJsonBody<ProviderSave>;

/// <summary>What is to be forgotten of a provider.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<ProviderMemoryKind>))]
internal enum ProviderMemoryKind
{
    /// <summary>That it has failed, so that it is asked again at once.</summary>
    Breaker,

    /// <summary>How many connections it was found to allow.</summary>
    Cap,

    /// <summary>How much it has brought.</summary>
    Bytes,
}

/// <summary>What is to be forgotten.</summary>
internal sealed record ProviderReset(ProviderMemoryKind What) : IJsonBody<ProviderReset>;

/// <summary>A provider that is to be tested.</summary>
/// <param name="Id">A saved one whose password is meant where none is given; null for a new one.</param>
/// <param name="Host">Host name or address.</param>
/// <param name="Port">Port.</param>
/// <param name="Tls">Whether it is spoken to over TLS.</param>
/// <param name="User">The user; empty for none.</param>
/// <param name="Password">The password; null for the saved one.</param>
/// <param name="SkipsCertificateCheck">Whether any certificate will do.</param>
/// <param name="MaxConnections">The most that the ceiling is looked for up to; null for 100.</param>
internal sealed record ProviderTest(
    string? Id, string Host, int Port, bool Tls, string User, string? Password, bool SkipsCertificateCheck = false, int? MaxConnections = null) : IJsonBody<ProviderTest>;

/// <summary>A step of a test: an event <c>step</c>.</summary>
/// <param name="Stage">Which.</param>
/// <param name="State">What has become of it.</param>
/// <param name="Ms">How long it took.</param>
/// <param name="Cause">Why it failed; null where it did not.</param>
/// <param name="Sentence">The same as a sentence, or what was found; null for nothing.</param>
/// <param name="Value">Connections of the ceiling, bytes per second of the speed; null elsewhere.</param>
internal sealed record ProviderTestStep(
    ProviderTestStage Stage, ProviderTestState State, double Ms, ProviderTestCause? Cause, string? Sentence, long? Value);

/// <summary>The end of a test: an event <c>done</c>.</summary>
/// <param name="Ok">Whether it can be used.</param>
/// <param name="Connections">Connections that are worth setting; null where that was not found out.</param>
/// <param name="BytesPerSecond">How fast articles came; null where that was not measured.</param>
internal sealed record ProviderTestOutcome(bool Ok, int? Connections, long? BytesPerSecond);

/// <summary>How providers stand in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(
    System.Text.Json.JsonSerializerDefaults.Web,
    Converters = [typeof(KebabCaseEnumConverter<ProviderTestStage>), typeof(KebabCaseEnumConverter<ProviderTestState>), typeof(KebabCaseEnumConverter<ProviderTestCause>)])]
[JsonSerializable(typeof(ProviderRows))]
[JsonSerializable(typeof(ProviderRow))]
[JsonSerializable(typeof(ProviderSave))]
[JsonSerializable(typeof(ProviderReset))]
[JsonSerializable(typeof(ProviderTest))]
[JsonSerializable(typeof(ProviderTestStep))]
[JsonSerializable(typeof(ProviderTestOutcome))]
internal sealed partial class ProviderResourceJson : JsonSerializerContext;
