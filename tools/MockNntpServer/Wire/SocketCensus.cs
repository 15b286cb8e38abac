using System.Net.Sockets;

namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>
/// Counts a provider's sockets until both sides have closed them, and judges the cap. Thread-safe.
/// </summary>
/// <remarks>
/// A client that closes a socket and opens another is seen in that order by the kernel but not by two readers of this
/// process. So before a count becomes a reproach, every socket is asked whether its client has closed it already.
/// </remarks>
internal sealed class SocketCensus(MockStats stats)
{
    private readonly Lock _lock = new();
    private readonly HashSet<Entry> _open = [];
    private long _entered;

    /// <summary>Counts a socket that was accepted.</summary>
    public Entry Enter(Socket socket)
    {
        Entry entry;
        lock (_lock)
        {
            entry = new Entry(socket, ++_entered);
            if (_open.Count >= stats.ConnectionsPeak)
                Sweep();
            _open.Add(entry);
            stats.ConnectionOpened();
        }

        return entry;
    }

    /// <summary>Takes one of the places under the cap; refused sockets do not hold one.</summary>
    /// <returns>False when all are taken.</returns>
    public bool TryAdmit(Entry entry, int cap)
    {
        lock (_lock)
        {
            if (entry.Admitted)
                return true;
            if (cap > 0 && Admitted() >= cap)
            {
                Sweep();
                if (Admitted() >= cap)
                {
                    stats.ConnectionRefused();
                    return false;
                }
            }

            return entry.Admitted = true;
        }
    }

    /// <summary>Whether an admitted socket is one of those beyond a cap that has shrunk: the oldest stay.</summary>
    public bool IsBeyond(Entry entry, int cap)
    {
        lock (_lock)
            return cap > 0 && entry.Admitted && _open.Count(other => other.Admitted && other.Number < entry.Number) >= cap;
    }

    /// <summary>Ends the count of a socket, once.</summary>
    public void Leave(Entry entry)
    {
        lock (_lock)
        {
            if (_open.Remove(entry))
                stats.ConnectionClosed();
        }
    }

    private int Admitted() => _open.Count(entry => entry.Admitted);

    private void Sweep()
    {
        foreach (var entry in _open.Where(entry => TcpState.IsClosedByPeer(entry.Socket)).ToList())
        {
            _open.Remove(entry);
            stats.ConnectionClosed();
        }
    }

    /// <summary>One counted socket.</summary>
    public sealed class Entry(Socket socket, long number)
    {
        /// <summary>Order of acceptance.</summary>
        public long Number => number;

        public Socket Socket { get; } = socket;

        public bool Admitted { get; set; }
    }
}
