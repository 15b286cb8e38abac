using System.Net.NetworkInformation;
using System.Net.Sockets;

namespace Sluice.Server.Diagnostics;

/// <summary>The addresses under which other devices on the local network can reach this machine.</summary>
internal static class LanAddresses
{
    private const int Max = 8;

    /// <summary>Returns the IPv4 addresses of interfaces with a gateway, because container bridges have none. Empty if they cannot be read.</summary>
    public static IReadOnlyList<string> Find()
    {
        try
        {
            return
            [
                .. NetworkInterface.GetAllNetworkInterfaces()
                    .Where(card => card.OperationalStatus == OperationalStatus.Up && card.NetworkInterfaceType != NetworkInterfaceType.Loopback)
                    .Select(card => card.GetIPProperties())
                    .Where(card => card.GatewayAddresses.Count > 0)
                    .SelectMany(card => card.UnicastAddresses)
                    .Where(own => own.Address.AddressFamily == AddressFamily.InterNetwork)
                    .Select(own => own.Address.ToString())
                    .Take(Max),
            ];
        }
        catch (NetworkInformationException)
        {
            // The caller then uses the address in the browser, or localhost.
            return [];
        }
    }
}
