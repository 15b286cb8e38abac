using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>The address under which the client reached the server, so that links work for that client.</summary>
internal static class ClientAddress
{
    /// <summary>Returns scheme, host and port without a path, as seen by the client in front of any trusted proxies.</summary>
    public static string Of(HttpRequest request) => $"{request.Scheme}://{request.Host.ToUriComponent()}";

    /// <summary>Returns the address of a path below the URL base. The path is not escaped and has no leading slash.</summary>
    public static string Of(HttpRequest request, string path) =>
        $"{Of(request)}{request.PathBase.ToUriComponent()}/{string.Join('/', path.Split('/').Select(Uri.EscapeDataString))}";
}

/// <summary>Creates links below <c>/view</c> that work without a password until they expire (DAV-80, DAV-81). Thread-safe.</summary>
internal sealed class SignedLinks(IOptionsMonitor<ApiOptions> api, TimeProvider time)
{
    public const int DefaultHours = 24;

    public const int MaxHours = 30 * 24;

    /// <summary>Returns when a link created now expires, to the second.</summary>
    public DateTimeOffset Until(int hours) => DateTimeOffset.FromUnixTimeSeconds((time.WallTime() + TimeSpan.FromHours(hours)).ToUnixTimeSeconds());

    /// <summary>
    /// Returns a link to a path below <c>/view</c>; the path is not escaped and has no leading slash. While the key is locked, the link is unsigned, so it
    /// requires the password (CFG-53).
    /// </summary>
    public string Make(HttpRequest request, string path, DateTimeOffset until)
    {
        var address = ClientAddress.Of(request, $"view/{path}");
        if (api.CurrentValue.KeyIsLocked)
            return address;
        var expires = until.ToUnixTimeSeconds().ToString(CultureInfo.InvariantCulture);
        return $"{address}?downloadKey={ViewKey.Sign(api.CurrentValue.Key, path, expires)}&expires={expires}";
    }
}
