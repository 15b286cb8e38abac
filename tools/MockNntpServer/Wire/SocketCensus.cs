using System.Net.Sockets;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>Counts the sockets of all providers until both sides have closed them, and enforces connection limits. Thread-safe.</summary>
/// <remarks>
/// If a client closes one socket and opens another, the kernel sees that order, but two readers of this process may not. So before a count
/// exceeds a limit or peak, every socket is checked for a close by its client.
/// </remarks>
internal sealed class SocketCensus(MockStats total)
{
    private readonly Lock _lock = new();
    private readonly HashSet<Entry> _open = [];
    private long _entered;

    /// <param name="stats">The counters of its provider.</param>
    public Entry Enter(Socket socket, MockStats stats)
    {
        Entry entry;
        lock (_lock)
        {
            entry = new Entry(socket, stats, ++_entered);
            if (_open.Count >= total.ConnectionsPeak || _open.Count(entry.IsBeside) >= stats.ConnectionsPeak)
                Sweep();
            _open.Add(entry);
            stats.ConnectionOpened();
        }

        return entry;
    }

    /// <summary>Admits a socket if the limit allows it. Rejected sockets do not count against the limit.</summary>
    public bool TryAdmit(Entry entry, int cap)
    {
        lock (_lock)
        {
            if (entry.Admitted)
                return true;
            if (cap > 0 && AdmittedBeside(entry) >= cap)
            {
                Sweep();
                if (AdmittedBeside(entry) >= cap)
                {
                    entry.Stats.ConnectionRefused();
                    return false;
                }
            }

            return entry.Admitted = true;
        }
    }

    /// <summary>Whether an admitted socket exceeds a limit that has shrunk. The oldest sockets stay.</summary>
    public bool IsBeyond(Entry entry, int cap)
    {
        lock (_lock)
            return cap > 0 && entry.Admitted && _open.Count(other => other.Admitted && other.IsBeside(entry) && other.Number < entry.Number) >= cap;
    }

    /// <summary>Ends the count of a socket. Repeated calls have no effect.</summary>
    public void Leave(Entry entry)
    {
        lock (_lock)
        {
            if (_open.Remove(entry))
                entry.Stats.ConnectionClosed();
        }
    }

    private int AdmittedBeside(Entry entry) => _open.Count(other => other.Admitted && other.IsBeside(entry));

    private void Sweep()
    {
        foreach (var entry in _open.Where(entry => !entry.IsUnnoticed && TcpState.IsClosedByPeer(entry.Socket)).ToList())
        {
            _open.Remove(entry);
            entry.Stats.ConnectionClosed();
        }
    }

    public sealed class Entry(Socket socket, MockStats stats, long number)
    {
        private bool _isUnnoticed;

        public long Number => number;

        public Socket Socket { get; } = socket;

        public MockStats Stats => stats;

        public bool Admitted { get; set; }

        /// <summary>Whether the server cannot notice a disconnect yet. Written by the sender, read under the lock; a slightly late read is harmless.</summary>
        public bool IsUnnoticed
        {
            get => Volatile.Read(ref _isUnnoticed);
            set => Volatile.Write(ref _isUnnoticed, value);
        }

        public bool IsBeside(Entry other) => ReferenceEquals(stats, other.Stats);
    }
}

/// <summary>Kernel state of a connection, available before any bytes are read.</summary>
internal static class TcpState
{
    private const int ProtocolTcp = 6;
    private const int TcpInfo = 11;

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
