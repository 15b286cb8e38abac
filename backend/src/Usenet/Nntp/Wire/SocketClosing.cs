using System.Net.Sockets;

namespace Sluice.Usenet.Nntp.Wire;

/// <summary>Two ways to close a socket while it may still be in use.</summary>
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
