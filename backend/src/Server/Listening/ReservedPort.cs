using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Sluice.Server.Settings;

namespace Sluice.Server.Listening;

/// <summary>
/// Binds the port early in startup and passes it to Kestrel later. A bound socket refuses connections until it listens, so startup can print credentials for a
/// port that it owns before anyone can connect.
/// </summary>
/// <remarks>Used only by the startup thread.</remarks>
internal sealed class ReservedPort(ProcessOptions process, Func<EndPoint, Socket> bind) : IDisposable
{
    private Socket? _bound;

    /// <summary>The listener port. Before <see cref="Reserve"/> it is the configured port, which may be 0.</summary>
    public int Number { get; private set; } = process.Port;

    /// <summary>Binds the port.</summary>
    /// <exception cref="IOException">The port is in use; the inner exception is an <see cref="AddressInUseException"/>, as with Kestrel.</exception>
    /// <exception cref="SocketException">The port cannot be bound for another reason.</exception>
    public void Reserve()
    {
        try
        {
            _bound = process.BindAddress is { } address ? Bind(address) : BindAny();
        }
        catch (SocketException e) when (e.SocketErrorCode is SocketError.AddressAlreadyInUse)
        {
            throw new IOException($"Port {process.Port} is in use.", new AddressInUseException(e.Message, e));
        }

        Number = ((IPEndPoint)_bound.LocalEndPoint!).Port;
    }

    /// <summary>Returns the reserved socket if its address matches; otherwise binds a new socket. The caller disposes it.</summary>
    public Socket Take(EndPoint endPoint)
    {
        if (_bound is not { LocalEndPoint: IPEndPoint own } || endPoint is not IPEndPoint wanted || !own.Address.Equals(wanted.Address))
            return bind(endPoint);

        var bound = _bound;
        _bound = null;
        return bound;
    }

    public void Dispose() => _bound?.Dispose();

    private Socket Bind(IPAddress address) => bind(new IPEndPoint(address, process.Port));

    /// <summary>Binds both IP versions, or only IPv4 on a machine without IPv6, as Kestrel does.</summary>
    private Socket BindAny()
    {
        try
        {
            return Bind(IPAddress.IPv6Any);
        }
        catch (SocketException e) when (e.SocketErrorCode is not SocketError.AddressAlreadyInUse)
        {
            return Bind(IPAddress.Any);
        }
    }
}
