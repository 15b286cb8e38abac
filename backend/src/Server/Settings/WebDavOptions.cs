using System.Net;

namespace Sluice.Server.Settings;

/// <summary>The tree (<c>webdav.*</c>).</summary>
internal sealed record WebDavOptions
{
    /// <summary>User name.</summary>
    public required string User { get; init; }

    /// <summary>The password as a stored hash, or in plain text where it comes from the environment. Empty until the first start has made one.</summary>
    public required string Password { get; init; }

    /// <summary>Networks whose clients need no credentials; empty unless the process option allows it too (DAV-33).</summary>
    public required IReadOnlyList<IPNetwork> NoAuthNetworks { get; init; }

    /// <summary>Whether new releases get names that Windows can hold.</summary>
    public required bool WindowsSafePaths { get; init; }

    /// <summary>Whether PAR2 files are published and shown.</summary>
    public bool PreviewPar2Files { get; init; }

    /// <summary>Opens every link below <c>/view</c>; empty for none.</summary>
    public string StaticDownloadKey { get; init; } = "";

    /// <summary>Whether <see cref="StaticDownloadKey"/> is locked (CFG-53).</summary>
    public bool StaticDownloadKeyIsLocked { get; init; }

    /// <summary>Takes the values in force.</summary>
    /// <param name="settings">The values.</param>
    /// <param name="mayDisableAuthentication">Whether <c>DISABLE_WEBDAV_AUTH</c> is set; only both together have an effect.</param>
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

    /// <summary>The user only.</summary>
    public override string ToString() => $"{nameof(WebDavOptions)} of {User}";
}
