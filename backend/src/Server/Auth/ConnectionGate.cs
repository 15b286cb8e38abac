using System.Net;
using Microsoft.AspNetCore.Connections;

namespace Sluice.Server.Auth;

/// <summary>Lets one address hold a limited number of connections, so that one client cannot take all of them (S25). Loopback and trusted proxies are exempt.</summary>
/// <param name="perAddress">The limit.</param>
/// <param name="isExempt">Whether an address may hold any number; null for loopback alone.</param>
/// <remarks>Thread-safe.</remarks>
internal sealed class ConnectionGate(int perAddress, Func<IPAddress, bool>? isExempt = null)
{
    private readonly Lock _lock = new();
    private readonly Dictionary<IPAddress, int> _open = [];

    /// <summary>Wraps what serves a connection.</summary>
    public ConnectionDelegate Guard(ConnectionDelegate next) => async connection =>
    {
        var address = (connection.RemoteEndPoint as IPEndPoint)?.Address;
        if (address is null || IsLoopback(address) || isExempt?.Invoke(address) == true)
        {
            await next(connection);
            return;
        }

        if (!TryEnter(address))
        {
            connection.Abort();
            return;
        }

        try
        {
            await next(connection);
        }
        finally
        {
            Leave(address);
        }
    };

    /// <summary>Counts one more connection, or refuses it.</summary>
    public bool TryEnter(IPAddress address)
    {
        lock (_lock)
        {
            var open = _open.GetValueOrDefault(address);
            if (open >= perAddress)
                return false;

            _open[address] = open + 1;
            return true;
        }
    }

    /// <summary>Counts one less.</summary>
    public void Leave(IPAddress address)
    {
        lock (_lock)
        {
            if (--_open[address] == 0)
                _open.Remove(address);
        }
    }

    private static bool IsLoopback(IPAddress address) => IPAddress.IsLoopback(address.IsIPv4MappedToIPv6 ? address.MapToIPv4() : address);
}
