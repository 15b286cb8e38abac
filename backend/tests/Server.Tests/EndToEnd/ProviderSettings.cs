using System.Text.Json;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Providers as the environment gives them to a server.</summary>
internal static class ProviderSettings
{
    /// <param name="ports">News servers on loopback, without TLS, the first asked first.</param>
    public static Dictionary<string, string> For(params IReadOnlyList<int> ports) => For(ports, user: "", password: "");

    /// <summary>The same with one login at all of them.</summary>
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
