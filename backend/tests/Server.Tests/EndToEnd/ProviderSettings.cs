using System.Text.Json;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Environment variables that configure providers.</summary>
internal static class ProviderSettings
{
    /// <param name="ports">Ports of news servers on loopback, without TLS, in the order of their priority.</param>
    public static Dictionary<string, string> For(params IReadOnlyList<int> ports) => For(ports, user: "", password: "");

    /// <summary>Returns the variables, with one login for all providers.</summary>
    public static Dictionary<string, string> For(IReadOnlyList<int> ports, string user, string password) => new()
    {
        ["SLUICE_CONFIG__USENET__PROVIDERS"] = JsonSerializer.Serialize(new
        {
            Providers = ports.Select((port, at) => new
            {
                Nickname = $"loopback-{at}",
                Host = "127.0.0.1",
                Port = port,
                UseSsl = false,
                User = user,
                Pass = password,
                MaxConnections = 8,
                Type = 1,
                Priority = at,
            }),
        }),
    };
}
