using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>Two ways to close a socket that may still be in use, and the number of bytes lost by closing it.</summary>
internal static class SocketClosing
{
    /// <summary>Closes at once: pending reads and writes fail, and the server sees a reset.</summary>
    public static void Reset(this Socket socket)
    {
        try
        {
            socket.LingerState = new LingerOption(enable: true, seconds: 0);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Already closed, so there is nothing to do.
        }

        socket.Dispose();
    }

    /// <summary>Returns the number of bytes that have arrived but were not received; 0 once the socket is closed.</summary>
    public static int Unread(this Socket socket)
    {
        try
        {
            return socket.Available;
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // The socket is closed, so nothing more will be read.
            return 0;
        }
    }

    /// <summary>Closes the sending side and notifies the server; pending writes fail.</summary>
    public static void StopSending(this Socket socket)
    {
        try
        {
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Already closed, by this side or the server.
        }
    }
}
