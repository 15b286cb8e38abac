using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>The two ways in which a socket is closed that is not done.</summary>
internal static class SocketClosing
{
    /// <summary>Closes at once, whatever is under way: pending reads and writes fail, and the server sees a reset.</summary>
    public static void Reset(this Socket socket)
    {
        try
        {
            socket.LingerState = new LingerOption(enable: true, seconds: 0);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Closed already; that is what was asked for.
        }

        socket.Dispose();
    }

    /// <summary>Sends nothing more, and tells the server so: pending writes fail.</summary>
    public static void StopSending(this Socket socket)
    {
        try
        {
            socket.Shutdown(SocketShutdown.Send);
        }
        catch (Exception error) when (error is SocketException or ObjectDisposedException)
        {
            // Closed already, by us or by the server.
        }
    }
}
