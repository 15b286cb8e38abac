using System.Text.Json;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Providers as the environment gives them to a server.</summary>
internal static class ProviderSettings
{
    /// <param name="ports">News servers on loopback, without TLS, the first asked first.</param>
    public static Dictionary<string, string> For(params IReadOnlyList<int> ports) => new()
    {
        ["SLUICE_CONFIG__USENET__PROVIDERS"] = JsonSerializer.Serialize(new
        {
            Providers = ports.Select((port, at) => new
            {
                Nickname = $"loopback-{at}",
                Host = "127.0.0.1",
                Port = port,
                UseSsl = false,
                MaxConnections = 8,
                Type = 1,
                Priority = at,
            }),
        }),
    };
}
