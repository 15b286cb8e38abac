using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>How far the setup is.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<SetupStage>))]
internal enum SetupStage
{
    /// <summary>There is no administrator.</summary>
    Account,

    /// <summary>The first provider.</summary>
    Provider,

    /// <summary>The first film.</summary>
    Try,

    /// <summary>Programs that import.</summary>
    Apps,

    /// <summary>The checklist is over.</summary>
    Done,
}

/// <summary>How far the setup is, and whether it asks for the code.</summary>
/// <param name="Complete">Whether there is an administrator.</param>
/// <param name="Step">How far the checklist is.</param>
/// <param name="NeedsCode">Whether it asks for the code.</param>
/// <param name="HasKeys">True if there is no administrator any more and named keys of the former one still work; else absent.</param>
internal sealed record SetupState(
    bool Complete, SetupStage Step, bool NeedsCode, [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] bool? HasKeys = null);

/// <summary>The first administrator.</summary>
/// <param name="Code">The code that the log shows.</param>
/// <param name="User">The name.</param>
/// <param name="Password">The password.</param>
/// <param name="Origin">Where the browser found the server; null not to keep it.</param>
/// <param name="EndKeys">Ends all named keys that a former administrator made.</param>
internal sealed record SetupRequest(string Code, string User, string Password, string? Origin = null, bool EndKeys = false) : IJsonBody<SetupRequest>;

/// <summary>How far the checklist has come.</summary>
internal sealed record SetupStep(SetupStage Step) : IJsonBody<SetupStep>;

/// <summary>Who is logged in, and what every page says.</summary>
/// <param name="User">The name.</param>
/// <param name="Expires">When the session ends.</param>
/// <param name="Csrf">The value of the header <c>X-Csrf</c>.</param>
/// <param name="Mode">How the server runs: normal, or safe.</param>
/// <param name="Version">Version of the server.</param>
/// <param name="Setup">How far the setup is.</param>
/// <param name="OpenTo">Networks whose clients read all files without a password (S9).</param>
internal sealed record Session(
    string User, DateTimeOffset Expires, string Csrf, string Mode, string Version, SetupStage Setup, IReadOnlyList<string> OpenTo);

/// <summary>A login.</summary>
internal sealed record Login(string User, string Password) : IJsonBody<Login>;

/// <summary>A change of the login; without a new password the old one stays.</summary>
/// <param name="User">The name.</param>
/// <param name="OldPassword">The password until now.</param>
/// <param name="NewPassword">Another one, which ends all other sessions.</param>
/// <param name="EndKeys">Ends all named keys too.</param>
internal sealed record AccountChange(string User, string OldPassword, string? NewPassword = null, bool EndKeys = false) : IJsonBody<AccountChange>;

/// <summary>How access stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(SetupState))]
[JsonSerializable(typeof(SetupRequest))]
[JsonSerializable(typeof(SetupStep))]
[JsonSerializable(typeof(Session))]
[JsonSerializable(typeof(Login))]
[JsonSerializable(typeof(AccountChange))]
internal sealed partial class AccessJson : JsonSerializerContext;
