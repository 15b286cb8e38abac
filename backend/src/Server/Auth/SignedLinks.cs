using System.Globalization;
using Microsoft.Extensions.Options;
using Sluice.Server.Settings;
using Sluice.Usenet.Primitives;

namespace Sluice.Server.Auth;

/// <summary>The address at which a client has reached the server, so that links work where the client is.</summary>
internal static class ClientAddress
{
    /// <summary>Returns scheme, host and port without a path; trusted proxies are taken into account.</summary>
    public static string Of(HttpRequest request) => $"{request.Scheme}://{request.Host.ToUriComponent()}";

    /// <summary>Returns the address of a path below the URL base. The path is unescaped and has no leading slash.</summary>
    public static string Of(HttpRequest request, string path) =>
        $"{Of(request)}{request.PathBase.ToUriComponent()}/{string.Join('/', path.Split('/').Select(Uri.EscapeDataString))}";
}

/// <summary>Makes links below <c>/view</c> that work without a password until they expire (DAV-80, DAV-81). Thread-safe.</summary>
internal sealed class SignedLinks(IOptionsMonitor<ApiOptions> api, TimeProvider time)
{
    public const int DefaultHours = 24;

    public const int MaxHours = 30 * 24;

    /// <summary>Returns when a link made now expires, to the second.</summary>
    public DateTimeOffset Until(int hours) => DateTimeOffset.FromUnixTimeSeconds((time.WallTime() + TimeSpan.FromHours(hours)).ToUnixTimeSeconds());

    /// <summary>
    /// Returns a link to a path below <c>/view</c>, unescaped and without a leading slash. It is unsigned and asks for the password while the key is locked
    /// (CFG-53).
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
