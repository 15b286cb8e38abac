namespace Sluice.Server.AdminApi;

/// <summary>The address at which the browser has found the server: what it shows as links works where the browser is.</summary>
internal static class BrowserAddress
{
    /// <summary>Scheme, host and port of a request, as its trusted proxies tell them, without a path.</summary>
    public static string Of(HttpRequest request) => $"{request.Scheme}://{request.Host.ToUriComponent()}";

    /// <summary>The address of a path below the URL base.</summary>
    /// <param name="request">The request.</param>
    /// <param name="path">Names separated by <c>/</c>, without one at the start; not escaped.</param>
    public static string Of(HttpRequest request, string path) =>
        $"{Of(request)}{request.PathBase.ToUriComponent()}/{string.Join('/', path.Split('/').Select(Uri.EscapeDataString))}";
}
