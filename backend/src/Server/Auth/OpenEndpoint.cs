using Microsoft.AspNetCore.Authorization;

namespace Sluice.Server.Auth;

/// <summary>
/// The named exceptions to "every route needs credentials". An endpoint is anonymous only by carrying one of these, and a
/// test knows which routes do.
/// </summary>
/// <param name="name">One of the names below.</param>
internal sealed class OpenEndpoint(string name) : IAllowAnonymous
{
    /// <summary><c>/healthz</c>, <c>/readyz</c>.</summary>
    public const string Process = "process";

    /// <summary>The SABnzbd-compatible API, which asks for its own key (<see cref="ApiKeyVerifier"/>).</summary>
    public const string SabApi = "sab-api";

    /// <summary>The page of the web UI, its files, and the redirect to it (DAV-2 to DAV-5).</summary>
    public const string Static = "static";

    /// <summary>The login of the admin API.</summary>
    public const string Session = "session";

    /// <summary>The setup of the admin API, which asks for its own code.</summary>
    public const string Setup = "setup";

    /// <summary>Which exception it is.</summary>
    public string Name { get; } = name;
}

/// <summary>Opens endpoints by name.</summary>
internal static class OpenEndpointConvention
{
    /// <summary>Lets any client call these endpoints.</summary>
    public static TBuilder OpenAs<TBuilder>(this TBuilder endpoints, string name)
        where TBuilder : IEndpointConventionBuilder
    {
        endpoints.Add(endpoint => endpoint.Metadata.Add(new OpenEndpoint(name)));
        return endpoints;
    }
}
