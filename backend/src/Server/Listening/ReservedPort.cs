using System.Net;
using System.Net.Sockets;
using Microsoft.AspNetCore.Connections;
using Sluice.Server.Settings;

namespace Sluice.Server.Listening;

/// <summary>
/// Binds the port early in a start, and gives it to Kestrel later. A bound socket refuses connections until it listens, so the start can print its
/// credentials on a port that is its own before it answers anyone.
/// </summary>
/// <remarks>Used by the thread that starts the server.</remarks>
internal sealed class ReservedPort(ProcessOptions process, Func<EndPoint, Socket> bind) : IDisposable
{
    private Socket? _bound;

    /// <summary>The port of the listener; before <see cref="Reserve"/> the configured one, which may be 0.</summary>
    public int Number { get; private set; } = process.Port;

    /// <summary>Binds the port.</summary>
    /// <exception cref="IOException">Another process has the port; the inner exception is an <see cref="AddressInUseException"/>, as with Kestrel.</exception>
    /// <exception cref="SocketException">The system refuses for another reason.</exception>
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

    /// <summary>Returns the reserved socket if it has this address; otherwise binds another one. The caller disposes it.</summary>
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

    /// <summary>Binds both protocols, or IPv4 alone on a machine without IPv6, as Kestrel does.</summary>
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
