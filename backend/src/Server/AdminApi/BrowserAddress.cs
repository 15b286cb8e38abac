namespace Sluice.Server.AdminApi;

/// <summary>The address at which the browser has reached the server, so that links work where the browser is.</summary>
internal static class BrowserAddress
{
    /// <summary>Returns scheme, host and port without a path; trusted proxies are taken into account.</summary>
    public static string Of(HttpRequest request) => $"{request.Scheme}://{request.Host.ToUriComponent()}";

    /// <summary>Returns the address of a path below the URL base. The path is unescaped and has no leading slash.</summary>
    public static string Of(HttpRequest request, string path) =>
        $"{Of(request)}{request.PathBase.ToUriComponent()}/{string.Join('/', path.Split('/').Select(Uri.EscapeDataString))}";
}
