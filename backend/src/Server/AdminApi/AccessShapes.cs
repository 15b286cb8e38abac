using System.Text.Json.Serialization;

namespace Sluice.Server.AdminApi;

/// <summary>Steps of the setup checklist.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<SetupStage>))]
internal enum SetupStage
{
    /// <summary>There is no administrator yet.</summary>
    Account,
    Provider,

    /// <summary>Playing a first film.</summary>
    Try,

    /// <summary>Connecting the programs that import.</summary>
    Apps,
    Done,
}

/// <summary>
/// Progress of the setup. <c>HasKeys</c> is true if there is no administrator, but named keys of the former one still work; otherwise absent.
/// </summary>
internal sealed record SetupState(
    bool Complete, SetupStage Step, bool NeedsCode, [property: JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)] bool? HasKeys = null);

/// <summary>
/// Creates the first administrator. <c>Code</c> is printed in the log. <c>Origin</c> is the address in the browser; null if it should not be saved.
/// <c>EndKeys</c> revokes all named keys of a former administrator.
/// </summary>
internal sealed record SetupRequest(string Code, string User, string Password, string? Origin = null, bool EndKeys = false) : IJsonBody<SetupRequest>;

/// <summary>Moves the checklist to a step.</summary>
internal sealed record SetupStep(SetupStage Step) : IJsonBody<SetupStep>;

/// <summary>
/// The login of this browser. <c>Csrf</c> is the value to send in the header <c>X-Csrf</c>, <c>Mode</c> is normal or safe, and <c>OpenTo</c> lists networks
/// whose clients may read all files without a password (S9).
/// </summary>
internal sealed record Session(
    string User, DateTimeOffset Expires, string Csrf, string Mode, string Version, SetupStage Setup, IReadOnlyList<string> OpenTo);

internal sealed record Login(string User, string Password) : IJsonBody<Login>;

/// <summary>Changes the login. A new password ends all other sessions; if null, the old password stays.</summary>
internal sealed record AccountChange(string User, string OldPassword, string? NewPassword = null, bool EndKeys = false) : IJsonBody<AccountChange>;
