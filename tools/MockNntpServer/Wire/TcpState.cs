using System.Net.Sockets;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>What the kernel knows about a connection before anything is read from it.</summary>
internal static class TcpState
{
    private const int ProtocolTcp = 6;
    private const int TcpInfo = 11;

    /// <summary>Whether the other side has closed or reset the connection.</summary>
    public static bool IsClosedByPeer(Socket socket)
    {
        try
        {
            if (!OperatingSystem.IsLinux())
                return socket.Poll(0, SelectMode.SelectRead) && socket.Available == 0;

            // struct tcp_info begins with the state: TIME_WAIT 6, CLOSE 7, CLOSE_WAIT 8, LAST_ACK 9, CLOSING 11.
            Span<byte> info = stackalloc byte[256];
            socket.GetRawSocketOption(ProtocolTcp, TcpInfo, info);
            return info[0] is 6 or 7 or 8 or 9 or 11;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true;
        }
    }
}
