using Microsoft.AspNetCore.Authorization;

namespace Sluice.Server.Auth;

/// <summary>Named exceptions to the rule that routes require credentials. A test lists them, because anyone can reach them.</summary>
internal sealed class OpenEndpoint(string name) : IAllowAnonymous
{
    /// <summary><c>/healthz</c>, <c>/readyz</c>.</summary>
    public const string Process = "process";

    /// <summary><c>/metrics</c>, which verifies its own key unless <c>metrics.require-api-key</c> is off.</summary>
    public const string Metrics = "metrics";

    /// <summary>The SABnzbd-compatible API, which verifies its own key (<see cref="ApiKeyVerifier"/>).</summary>
    public const string SabApi = "sab-api";

    /// <summary>The page and files of the web UI, and the redirect to it (DAV-2 to DAV-5).</summary>
    public const string Static = "static";

    public const string Session = "session";

    /// <summary>The setup, which verifies its own code.</summary>
    public const string Setup = "setup";

    /// <summary>The rescue page of safe mode, which verifies its own code.</summary>
    public const string Rescue = "rescue";

    public string Name { get; } = name;
}

internal static class OpenEndpointConvention
{
    public static TBuilder OpenAs<TBuilder>(this TBuilder endpoints, string name)
        where TBuilder : IEndpointConventionBuilder
    {
        endpoints.Add(endpoint => endpoint.Metadata.Add(new OpenEndpoint(name)));
        return endpoints;
    }
}
