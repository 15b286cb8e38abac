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

/// <summary>What a named key may do.</summary>
[JsonConverter(typeof(KebabCaseEnumConverter<KeyAccess>))]
internal enum KeyAccess
{
    /// <summary>Everything.</summary>
    Full,

    /// <summary>Read.</summary>
    Read,
}

/// <summary>How far the setup is, and whether it asks for the code.</summary>
internal sealed record SetupState(bool Complete, SetupStage Step, bool NeedsCode);

/// <summary>The first administrator.</summary>
/// <param name="Code">The code that the log shows.</param>
/// <param name="User">The name.</param>
/// <param name="Password">The password.</param>
/// <param name="Origin">Where the browser found the server; null not to keep it.</param>
internal sealed record SetupRequest(string Code, string User, string Password, string? Origin = null) : IJsonBody<SetupRequest>;

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
internal sealed record AccountChange(string User, string OldPassword, string? NewPassword = null) : IJsonBody<AccountChange>;

/// <summary>A named key, without itself.</summary>
internal sealed record KeyEntry(string Id, string Name, KeyAccess Access, DateTimeOffset Created, DateTimeOffset? LastUsed);

/// <summary>All named keys.</summary>
internal sealed record KeyEntries(IReadOnlyList<KeyEntry> Items);

/// <summary>A key that is to be made.</summary>
internal sealed record NewKey(string Name, KeyAccess Access) : IJsonBody<NewKey>;

/// <summary>A key that was made, which is shown once.</summary>
internal sealed record MadeKey(string Id, string Name, KeyAccess Access, string Key);

/// <summary>How access stands in JSON, generated at build.</summary>
[JsonSourceGenerationOptions(System.Text.Json.JsonSerializerDefaults.Web)]
[JsonSerializable(typeof(SetupState))]
[JsonSerializable(typeof(SetupRequest))]
[JsonSerializable(typeof(SetupStep))]
[JsonSerializable(typeof(Session))]
[JsonSerializable(typeof(Login))]
[JsonSerializable(typeof(AccountChange))]
[JsonSerializable(typeof(KeyEntries))]
[JsonSerializable(typeof(NewKey))]
[JsonSerializable(typeof(MadeKey))]
internal sealed partial class AccessJson : JsonSerializerContext;
