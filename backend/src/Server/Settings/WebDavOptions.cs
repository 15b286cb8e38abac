using System.Net;

namespace Sluice.Server.Settings;

/// <summary>WebDAV access (<c>webdav.*</c>).</summary>
internal sealed record WebDavOptions
{
    public required string User { get; init; }

    /// <summary>The password hash, or plain text if set by the environment. Empty until a password is generated at the first startup.</summary>
    public required string Password { get; init; }

    /// <summary>Networks that need no login; empty unless <c>DISABLE_WEBDAV_AUTH</c> is set (DAV-33).</summary>
    public required IReadOnlyList<IPNetwork> NoAuthNetworks { get; init; }

    public required bool WindowsSafePaths { get; init; }

    public bool PreviewPar2Files { get; init; }

    /// <summary>A key that opens every link below <c>/view</c>; empty for none.</summary>
    public string StaticDownloadKey { get; init; } = "";

    /// <summary>Whether <see cref="StaticDownloadKey"/> is locked (CFG-53).</summary>
    public bool StaticDownloadKeyIsLocked { get; init; }

    /// <summary>Reads the effective values. Networks that need no login also require <c>DISABLE_WEBDAV_AUTH</c>.</summary>
    public static WebDavOptions Read(EffectiveSettings settings, bool mayDisableAuthentication) => new()
    {
        User = settings.Text("webdav.user"),
        Password = settings.Text("webdav.pass"),
        NoAuthNetworks = mayDisableAuthentication
            ? [.. settings.List("webdav.no-auth-networks").Select(SettingReader.ReadNetwork).OfType<IPNetwork>()]
            : [],
        StaticDownloadKey = settings.Text("webdav.static-download-key"),
        StaticDownloadKeyIsLocked = settings.IsLocked("webdav.static-download-key"),
        WindowsSafePaths = settings.Boolean("webdav.windows-safe-paths"),
        PreviewPar2Files = settings.Boolean("webdav.preview-par2-files"),
    };

    /// <summary>Omits the password, so that logs cannot contain it.</summary>
    public override string ToString() => $"{nameof(WebDavOptions)} of {User}";
}
