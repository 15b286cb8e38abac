using System.Net;

namespace Sluice.Server.Settings;

/// <summary>Process-wide settings (<c>general.*</c>).</summary>
internal sealed record GeneralOptions
{
    public required LogLevel LogLevel { get; init; }

    public required bool JsonLog { get; init; }

    /// <summary>Path prefix of all routes, such as <c>/x</c>; empty for the root.</summary>
    public string UrlBase { get; init; } = "";

    /// <summary>The address at which clients reach this server; empty if not set.</summary>
    public string BaseUrl { get; init; } = "";

    /// <summary>Additional host names of this server; <c>*</c> allows any.</summary>
    public IReadOnlyList<string> AllowedHosts { get; init; } = [];

    /// <summary>Proxies whose <c>X-Forwarded-*</c> headers are trusted.</summary>
    public IReadOnlyList<IPNetwork> TrustedProxies { get; init; } = [];

    public static GeneralOptions Read(EffectiveSettings settings) => new()
    {
        LogLevel = Enum.Parse<LogLevel>(settings.Text("general.log-level"), ignoreCase: true),
        JsonLog = settings.Text("general.log-format") == "json",
        UrlBase = settings.Text("general.url-base"),
        BaseUrl = settings.Text("general.base-url"),
        AllowedHosts = settings.List("general.allowed-hosts"),
        TrustedProxies = [.. settings.List("general.trusted-proxies").Select(SettingReader.ReadNetwork).OfType<IPNetwork>()],
    };
}
