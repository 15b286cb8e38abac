using System.Net;

namespace Sluice.Server.Settings;

/// <summary>Settings of the process as a whole (<c>general.*</c>).</summary>
internal sealed record GeneralOptions
{
    /// <summary>Least level that is logged.</summary>
    public required LogLevel LogLevel { get; init; }

    /// <summary>Console lines are JSON objects rather than text.</summary>
    public required bool JsonLog { get; init; }

    /// <summary>Path below which everything is mapped, like <c>/x</c>; empty for the root.</summary>
    public string UrlBase { get; init; } = "";

    /// <summary>Address of this server as its clients reach it; empty for none.</summary>
    public string BaseUrl { get; init; } = "";

    /// <summary>Further host names of this server; <c>*</c> for any.</summary>
    public IReadOnlyList<string> AllowedHosts { get; init; } = [];

    /// <summary>Whose <c>X-Forwarded-*</c> headers are believed.</summary>
    public IReadOnlyList<IPNetwork> TrustedProxies { get; init; } = [];

    /// <summary>Takes the values in force.</summary>
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
